"""The references of Ruby, PHP, Lua, Bash and Elixir."""

from __future__ import annotations

from slicegrep.graph.uses_rules import BIND, CALLED, DEFINED, INHERITED, READ, SKIP, TYPED, UseRules

__all__ = ["RULES"]

_RUBY = UseRules(
    names=frozenset({"identifier", "constant", "instance_variable"}),
    members={"call": ("receiver", "method"), "scope_resolution": ("scope", "name")},
    called_members=frozenset({"call"}),
    roles={
        "class.name": SKIP,
        "module.name": SKIP,
        "method.name": SKIP,
        "singleton_method.name": SKIP,
        "superclass": INHERITED,
        "method_parameters": BIND,
        "block_parameters": BIND,
        "lambda_parameters": BIND,
        "optional_parameter.value": READ,
        "keyword_parameter.value": READ,
        "assignment.left": BIND,
        "operator_assignment.left": BIND,
        "exception_variable": BIND,
        "for.pattern": BIND,
        "alias": SKIP,
        "undef": SKIP,
        "hash_key_symbol": SKIP,
    },
    functions=frozenset({"method", "singleton_method", "block", "do_block", "lambda"}),
    classes=frozenset({"class", "module"}),
    assigns={"assignment": ("left", "right", "")},
    returned=frozenset({"return"}),
    selfs=frozenset({"self"}),
    own_variables=frozenset({"instance_variable"}),
    variables=frozenset({"instance_variable"}),
    literals=frozenset({"string", "integer", "float", "array", "hash", "simple_symbol", "true", "false", "nil", "regex", "lambda"}),
    wrappers=frozenset({"parenthesized_statements"}),
    bare_members=True,
    textual=True,
)  # fmt: skip

_PHP = UseRules(
    names=frozenset({"name", "variable_name", "relative_scope"}),
    calls={"function_call_expression": "function"},
    makes={"object_creation_expression": 0},
    members={
        "member_call_expression": ("object", "name"),
        "nullsafe_member_call_expression": ("object", "name"),
        "member_access_expression": ("object", "name"),
        "nullsafe_member_access_expression": ("object", "name"),
        "scoped_call_expression": ("scope", "name"),
        "scoped_property_access_expression": ("scope", "name"),
        "class_constant_access_expression": (0, -1),
        "qualified_name": ("prefix", -1),
    },
    called_members=frozenset(
        {"member_call_expression", "nullsafe_member_call_expression", "scoped_call_expression"}
    ),
    roles={
        "class_declaration.name": DEFINED,
        "interface_declaration.name": DEFINED,
        "trait_declaration.name": DEFINED,
        "enum_declaration.name": DEFINED,
        "function_definition.name": DEFINED,
        "method_declaration.name": SKIP,
        "const_element": READ,
        "base_clause": INHERITED,
        "class_interface_clause": INHERITED,
        "use_declaration": INHERITED,
        "property_element": SKIP,
        "named_type": TYPED,
        "simple_parameter.name": BIND,
        "property_promotion_parameter.name": BIND,
        "variadic_parameter.name": BIND,
        "assignment_expression.left": BIND,
        "catch_clause.name": BIND,
        "anonymous_function_use_clause": SKIP,
        "attribute": CALLED,
        "argument.name": SKIP,
        "namespace_name": SKIP,
    },
    functions=frozenset(
        {"function_definition", "method_declaration", "anonymous_function", "arrow_function"}
    ),
    classes=frozenset({"class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"}),
    assigns={
        "assignment_expression": ("left", "right", ""),
        "simple_parameter": ("name", "", "type"),
        "property_promotion_parameter": ("name", "", "type"),
        "property_declaration": (-1, "", "type"),
        "catch_clause": ("name", "", "type"),
    },
    returns={"function_definition": "return_type", "method_declaration": "return_type"},
    indexed={"subscript_expression": 0},
    returned=frozenset({"return_statement"}),
    imports=frozenset({"namespace_use_declaration"}),
    selfs=frozenset({"$this", "self", "static"}),
    supers=frozenset({"parent"}),
    literals=frozenset({"string", "encapsed_string", "integer", "array_creation_expression", "boolean", "null", "anonymous_function"}),
    wrappers=frozenset({"parenthesized_expression", "argument", "property_element"}),
    package_files=True,
    textual=True,
    promoted={"property_promotion_parameter": ""},
    variables=frozenset({"variable_name"}),
)  # fmt: skip

_LUA = UseRules(
    names=frozenset({"identifier"}),
    calls={"function_call": "name"},
    members={"dot_index_expression": ("table", "field"), "method_index_expression": ("table", "method")},
    roles={
        "function_declaration.name": DEFINED,
        "parameters": BIND,
        "variable_list": BIND,
        "field.name": SKIP,
        "label_statement": SKIP,
        "goto_statement": SKIP,
    },
    functions=frozenset({"function_declaration", "function_definition"}),
    assigns={"assignment_statement": (0, -1, "")},
    selfs=frozenset({"self"}),
    literals=frozenset(
        {"string", "number", "table_constructor", "true", "false", "nil", "function_definition"}
    ),
    wrappers=frozenset({"parenthesized_expression", "variable_list", "expression_list"}),
    textual=True,
)

_BASH = UseRules(
    names=frozenset({"command_name"}),
    calls={"command": "name"},
    roles={"function_definition.name": SKIP},
    textual=True,
)

_ELIXIR = UseRules(
    names=frozenset({"identifier", "alias"}),
    calls={"call": "target"},
    members={"dot": ("left", "right")},
    roles={"keyword": SKIP, "stab_clause.left": BIND},
    functions=frozenset({"stab_clause"}),
    selfs=frozenset({"__MODULE__"}),
    textual=True,
)

RULES = {"ruby": _RUBY, "php": _PHP, "lua": _LUA, "bash": _BASH, "elixir": _ELIXIR}
