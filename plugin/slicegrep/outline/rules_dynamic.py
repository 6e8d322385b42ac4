"""The rules of Ruby, PHP, Lua, Bash and Elixir."""

from __future__ import annotations

from slicegrep.outline.rules import Rules

__all__ = ["RULES"]

_RUBY = """
(module) @module
(class) @class
(singleton_class value: (_) @name) @singleton
(method) @method
(singleton_method) @class_method
(call method: (identifier) @callee arguments: (argument_list . [(simple_symbol) (string)] @name) block: (_)) @method
(assignment left: [(constant) (scope_resolution)] @name) @variable
"""

_PHP = """
(class_declaration) @class
(interface_declaration) @interface
(trait_declaration) @trait
(enum_declaration) @enum
(namespace_definition) @namespace
(function_definition) @function
(method_declaration) @method
(assignment_expression left: [(variable_name) (member_access_expression)] @name
  right: [(anonymous_function) (arrow_function)] @value) @function
(program (const_declaration . (const_element . (name) @name)) @variable)
(program (expression_statement (assignment_expression left: (variable_name) @name right: (array_creation_expression)) @variable))
(declaration_list (const_declaration (const_element . (name) @name)) @variable)
(property_declaration . (property_element name: (_) @name)) @variable
(property_declaration (property_element name: (_) @name)) @variable
"""

_LUA = """
(function_declaration) @function
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
(function_definition) @function
(program (variable_assignment name: (_) @name value: (array)) @variable)
(program (declaration_command (variable_assignment name: (_) @name value: (array)) @variable))
"""

_ELIXIR = """
(call target: (identifier) @callee (arguments . (alias) @name (keywords (pair value: (_) @more)))) @impl
(call target: (identifier) @callee (arguments . (_) @name) (do_block)? @body) @by_callee
(unary_operator operator: "@" operand: (call target: (identifier) @name (arguments . [(map) (list) (sigil)]))) @variable
"""

RULES = {
    "ruby": Rules(
        _RUBY,
        separator="::",
        separators={"method": "#", "class_method": ".", "in singleton": "."},
        renamed={"class_method": "method"},
        split="::",
        callees={"method": "define_method"},
        refined=(
            ("variable", "right", "call", r"(?:Struct|Class|Module|Data)\.(?:new|define)\b", "class"),
            ("variable", "right", "lambda", "", "function"),
        ),
        dropped=frozenset({"self"}),
        ends=r"\n|;|\s+do\b|\s*\{",
        annotations="(?!)",
    ),
    "php": Rules(
        _PHP,
        separator="::",
        separators={"in namespace": "\\"},
        bodiless={"namespace": ""},
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
