"""The references of Go, Rust, C, C++ and Zig."""

from __future__ import annotations

from dataclasses import replace

from slicegrep.graph.uses_rules import BIND, DEFINED, INHERITED, READ, SKIP, TYPED, UseRules

__all__ = ["RULES"]

_GO = UseRules(
    names=frozenset({"identifier", "type_identifier", "field_identifier", "package_identifier"}),
    calls={"call_expression": "function"},
    makes={"composite_literal": "type"},
    members={"selector_expression": ("operand", "field"), "qualified_type": ("package", "name")},
    roles={
        "package_clause": SKIP,
        "function_declaration.name": DEFINED,
        "method_declaration.name": SKIP,
        "type_spec.name": DEFINED,
        "type_alias.name": DEFINED,
        "method_elem.name": SKIP,
        "field_declaration.name": SKIP,
        "parameter_declaration.name": BIND,
        "variadic_parameter_declaration.name": BIND,
        "type_parameter_declaration.name": BIND,
        "short_var_declaration.left": BIND,
        "range_clause.left": BIND,
        "var_spec.name": BIND,
        "const_spec.name": BIND,
        "receive_statement.left": BIND,
        "type_switch_statement.alias": BIND,
        "keyed_element.key": SKIP,
        "label_name": SKIP,
    },
    functions=frozenset({"function_declaration", "method_declaration", "func_literal"}),
    assigns={
        "short_var_declaration": ("left", "right", ""),
        "var_spec": ("name", "value", "type"),
        "parameter_declaration": ("name", "", "type"),
    },
    returns={"function_declaration": "result", "method_declaration": "result"},
    loops={"range_clause": ("left", "right")},
    indexed={"index_expression": "operand"},
    returned=frozenset({"return_statement"}),
    imports=frozenset({"import_declaration"}),
    selfs=frozenset(),
    supers=frozenset(),
    literals=frozenset(
        {"interpreted_string_literal", "raw_string_literal", "int_literal", "float_literal", "func_literal", "true", "false", "nil"}
    ),
    wrappers=frozenset({"parenthesized_expression", "expression_list", "unary_expression", "literal_element"}),
    casts={"type_assertion_expression": "type"},
    package_files=True,
)  # fmt: skip

_RUST = UseRules(
    names=frozenset(
        {"identifier", "type_identifier", "field_identifier", "shorthand_field_identifier", "super", "crate"}
    ),
    calls={"call_expression": "function", "macro_invocation": "macro"},
    makes={"struct_expression": "name"},
    members={
        "field_expression": ("value", "field"),
        "scoped_identifier": ("path", "name"),
        "scoped_type_identifier": ("path", "name"),
    },
    roles={
        "function_item.name": DEFINED,
        "function_signature_item.name": SKIP,
        "struct_item.name": DEFINED,
        "enum_item.name": DEFINED,
        "union_item.name": DEFINED,
        "trait_item.name": DEFINED,
        "type_item.name": DEFINED,
        "const_item.name": DEFINED,
        "static_item.name": DEFINED,
        "mod_item.name": DEFINED,
        "macro_definition": SKIP,
        "impl_item.trait": INHERITED,
        "type_parameter.name": BIND,
        "parameter.pattern": BIND,
        "closure_parameters": BIND,
        "let_declaration.pattern": BIND,
        "let_condition.pattern": BIND,
        "for_expression.pattern": BIND,
        "match_pattern": BIND,
        "tuple_struct_pattern.type": READ,
        "struct_pattern.type": READ,
        "match_pattern.condition": READ,
        "field_declaration.name": SKIP,
        "field_initializer.field": SKIP,
        "enum_variant.name": SKIP,
        "self_parameter": SKIP,
        "lifetime": SKIP,
    },
    functions=frozenset({"function_item", "closure_expression", "function_signature_item", "match_arm"}),
    classes=frozenset({"impl_item", "struct_item", "enum_item", "trait_item", "union_item"}),
    assigns={
        "let_declaration": ("pattern", "value", "type"),
        "parameter": ("pattern", "", "type"),
        "field_declaration": ("name", "", "type"),
    },
    returns={"function_item": "return_type", "function_signature_item": "return_type"},
    loops={"for_expression": ("pattern", "value")},
    indexed={"index_expression": 0},
    imports=frozenset({"use_declaration"}),
    selfs=frozenset({"self", "Self"}),
    literals=frozenset({"string_literal", "integer_literal", "float_literal", "boolean_literal", "closure_expression", "array_expression"}),
    wrappers=frozenset(
        {"parenthesized_expression", "reference_expression", "try_expression", "await_expression", "unary_expression",
         "generic_function", "mut_pattern", "generic_type_with_turbofish"}
    ),
    macros=True,
)  # fmt: skip

_C = UseRules(
    names=frozenset({"identifier", "type_identifier", "field_identifier", "namespace_identifier"}),
    calls={"call_expression": "function"},
    members={"field_expression": ("argument", "field")},
    roles={
        "function_declarator.declarator": DEFINED,
        "parameter_declaration.declarator": BIND,
        "optional_parameter_declaration.declarator": BIND,
        "init_declarator.declarator": BIND,
        "declaration.declarator": BIND,
        "for_range_loop.declarator": BIND,
        "init_declarator.value": READ,
        "array_declarator.size": READ,
        "parameter_list": READ,
        "type_definition.declarator": DEFINED,
        "enumerator.name": SKIP,
        "field_declaration.declarator": SKIP,
        "field_designator": SKIP,
        "preproc_def": SKIP,
        "preproc_function_def": SKIP,
        "statement_identifier": SKIP,
        "struct_specifier.name": TYPED,
    },
    functions=frozenset({"function_definition"}),
    assigns={
        "parameter_declaration": ("declarator", "", "type"),
        "declaration": ("declarator", "", "type"),
    },
    indexed={"subscript_expression": "argument"},
    imports=frozenset({"preproc_include"}),
    literals=frozenset({"string_literal", "number_literal", "char_literal", "true", "false", "null", "concatenated_string"}),
    wrappers=frozenset(
        {"parenthesized_expression", "pointer_expression", "pointer_declarator", "init_declarator", "reference_declarator"}
    ),
    casts={"cast_expression": "type"},
    textual=True,
)  # fmt: skip

_CPP = replace(
    _C,
    calls={"call_expression": "function"},
    makes={"new_expression": "type"},
    members={"field_expression": ("argument", "field"), "qualified_identifier": ("scope", "name")},
    roles={
        **_C.roles,
        "base_class_clause": INHERITED,
        "class_specifier.name": DEFINED,
        "struct_specifier.name": DEFINED,
        "namespace_definition.name": SKIP,
        "alias_declaration.name": DEFINED,
        "type_parameter_declaration": BIND,
        "template_argument_list": TYPED,
        "default_value": READ,
    },
    functions=frozenset({"function_definition", "lambda_expression"}),
    classes=frozenset({"class_specifier", "struct_specifier"}),
    assigns={**_C.assigns, "field_declaration": ("declarator", "", "type")},
    imports=frozenset({"preproc_include", "using_declaration"}),
    wrappers=_C.wrappers | {"template_function", "template_method"},
    bare_members=True,
)

_ZIG = UseRules(
    names=frozenset({"identifier", "builtin_identifier"}),
    calls={"call_expression": "function", "builtin_function": 0},
    makes={"struct_initializer": 0},
    members={"field_expression": ("object", "member")},
    roles={
        "function_declaration.name": DEFINED,
        "container_field.name": SKIP,
        "parameter.name": BIND,
        "payload": BIND,
        "parameter.type": TYPED,
    },
    functions=frozenset({"function_declaration"}),
    classes=frozenset({"struct_declaration", "enum_declaration", "union_declaration"}),
    assigns={"variable_declaration": (0, -1, ""), "parameter": ("name", "", "type")},
    returns={"function_declaration": "type"},
    selfs=frozenset(),
    literals=frozenset({"string", "integer", "float", "boolean"}),
    wrappers=frozenset({"try_expression"}),
)

RULES = {"go": _GO, "rust": _RUST, "c": _C, "cpp": _CPP, "zig": _ZIG}
