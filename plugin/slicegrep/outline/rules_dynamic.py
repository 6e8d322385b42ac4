"""The rules of Ruby, PHP, Lua, Bash and Elixir."""

from __future__ import annotations

from slicegrep.outline.rules import Rules

__all__ = ["RULES"]

_RUBY = """
(module name: (_) @name) @module
(class name: (_) @name) @class
(singleton_class value: (_) @name) @singleton
(method name: (_) @name) @method
(singleton_method name: (_) @name) @class_method
(call method: (identifier) @callee arguments: (argument_list . [(simple_symbol) (string)] @name) block: (_)) @method
(assignment left: [(constant) (scope_resolution)] @name right: (call receiver: (constant) method: (identifier) @callee block: (_))) @class
(assignment left: [(constant) (identifier)] @name right: (lambda)) @function
(program (assignment left: [(constant) (scope_resolution)] @name) @variable)
(body_statement (assignment left: (constant) @name) @variable)
"""

_PHP = """
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(trait_declaration name: (_) @name) @trait
(enum_declaration name: (_) @name) @enum
(namespace_definition name: (_) @name body: (_)) @namespace
(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @method
(assignment_expression left: [(variable_name) (member_access_expression)] @name
  right: [(anonymous_function) (arrow_function)] @value) @function
(program (const_declaration . (const_element . (name) @name)) @variable)
(program (expression_statement (assignment_expression left: (variable_name) @name right: (array_creation_expression)) @variable))
(declaration_list (const_declaration (const_element . (name) @name)) @variable)
(property_declaration . (property_element name: (_) @name)) @variable
(property_declaration (property_element name: (_) @name)) @variable
"""

_LUA = """
(function_declaration name: (_) @name) @function
(assignment_statement (variable_list . name: (_) @name) (expression_list . value: (function_definition) @value)) @function
(field name: (_) @name value: (function_definition) @value) @method
(field name: (_) @name value: (table_constructor)) @qualifier
(chunk (variable_declaration (assignment_statement (variable_list . name: (_) @name)
  (expression_list . value: (table_constructor))) @variable))
(chunk (assignment_statement (variable_list . name: (_) @name) (expression_list . value: (table_constructor))) @variable)
(assignment_statement (variable_list . name: (_) @name) (expression_list . value: (table_constructor))) @qualifier
(variable_declaration (assignment_statement) @inner) @wrap
"""

_BASH = """
(function_definition name: (_) @name) @function
(program (variable_assignment name: (_) @name value: (array)) @variable)
(program (declaration_command (variable_assignment name: (_) @name value: (array)) @variable))
"""

_ELIXIR = """
(call target: (identifier) @callee (arguments . (alias) @name) (do_block) @body) @module
(call target: (identifier) @callee (arguments . (alias) @name) (do_block) @body) @protocol
(call target: (identifier) @callee (arguments . (alias) @name (keywords (pair value: (_) @more))) (do_block) @body) @impl
(call target: (identifier) @callee (arguments . (alias) @name)) @impl
(call target: (identifier) @callee (arguments . [(call target: (_) @name) (identifier) @name
  (binary_operator left: [(call target: (_) @name) (identifier) @name] operator: "when")])) @function
(call target: (identifier) @callee (arguments . (binary_operator operator: _ @name))) @function
(call target: (identifier) @callee (arguments . (string) @name) (do_block) @body) @test
(unary_operator operator: "@" operand: (call target: (identifier) @name (arguments . [(map) (list) (sigil)]))) @variable
"""

RULES = {
    "ruby": Rules(
        _RUBY,
        separator="::",
        separators={"method": "#", "class_method": ".", "in singleton": "."},
        renamed={"class_method": "method"},
        split="::",
        callees={"method": "define_method", "class": "new|define"},
        dropped=frozenset({"self"}),
        ends=r"\n|;|\s+do\b|\s*\{",
        annotations="(?!)",
    ),
    "php": Rules(
        _PHP,
        separator="::",
        separators={"in namespace": "\\"},
        split="->",
        dropped=frozenset({"$this"}),
        annotations=r"#\[[^\]]*\]\s*",
    ),
    "lua": Rules(_LUA, split="[.:]", ends=r"\n|\s+end\b", annotations="(?!)"),
    "bash": Rules(_BASH, annotations="(?!)"),
    "elixir": Rules(
        _ELIXIR,
        joint=".",
        callees={
            "module": "defmodule",
            "protocol": "defprotocol",
            "impl": "defimpl",
            "function": r"def(?:p|macro|macrop|guard|guardp|delegate|n|np|callback)?",
            "test": "test|property",
        },
        renamed={"test": "function"},
        member_kind="function",
        ends=r"\s+do\s*(?:\n|$)|,\s*do:",
        annotations="(?!)",
    ),
}
