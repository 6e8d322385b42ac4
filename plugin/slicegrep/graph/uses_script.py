"""The references of Python, JavaScript and TypeScript."""

from __future__ import annotations

from slicegrep.graph.uses_rules import BIND, CALLED, DEFINED, INHERITED, READ, SKIP, TYPED, UseRules

__all__ = ["RULES"]

_PYTHON = UseRules(
    names=frozenset({"identifier"}),
    calls={"call": "function"},
    members={"attribute": ("object", "attribute")},
    roles={
        "function_definition.name": DEFINED,
        "class_definition.name": DEFINED,
        "class_definition.superclasses": INHERITED,
        "function_definition.return_type": TYPED,
        "assignment.left": BIND,
        "named_expression.name": BIND,
        "for_statement.left": BIND,
        "for_in_clause.left": BIND,
        "as_pattern.alias": BIND,
        "parameters": BIND,
        "lambda_parameters": BIND,
        "default_parameter.value": READ,
        "typed_default_parameter.value": READ,
        "type": TYPED,
        "subscript.subscript": READ,
        "keyword_argument.name": SKIP,
        "decorator": CALLED,
        "global_statement": SKIP,
        "nonlocal_statement": SKIP,
        "case_pattern": READ,
    },
    functions=frozenset(
        {
            "function_definition", "lambda", "list_comprehension", "set_comprehension", "dictionary_comprehension",
            "generator_expression",
        }
    ),
    classes=frozenset({"class_definition"}),
    assigns={
        "assignment": ("left", "right", "type"),
        "named_expression": ("name", "value", ""),
        "as_pattern": ("alias", 0, ""),
        "typed_parameter": (0, "", "type"),
        "typed_default_parameter": ("name", "", "type"),
        "default_parameter": ("name", "", ""),
    },
    returns={"function_definition": "return_type"},
    loops={"for_statement": ("left", "right"), "for_in_clause": ("left", "right")},
    indexed={"subscript": "value"},
    returned=frozenset({"return_statement", "yield"}),
    imports=frozenset({"import_statement", "import_from_statement", "future_import_statement"}),
    selfs=frozenset(),
    supers=frozenset(),
    literals=frozenset(
        {
            "string", "concatenated_string", "integer", "float", "list", "dictionary", "set", "tuple", "true", "false",
            "none", "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression",
            "binary_operator", "comparison_operator", "not_operator", "unary_operator",
        }
    ),
    wrappers=frozenset({"parenthesized_expression", "await", "as_pattern_target"}),
    first_is_self=True,
    string_types=True,
)  # fmt: skip

_JAVASCRIPT = UseRules(
    names=frozenset(
        {
            "identifier", "property_identifier", "shorthand_property_identifier", "type_identifier",
            "shorthand_property_identifier_pattern", "private_property_identifier",
        }
    ),
    calls={"call_expression": "function"},
    makes={"new_expression": "constructor"},
    members={
        "member_expression": ("object", "property"),
        "nested_type_identifier": ("module", "name"),
        "nested_identifier": ("object", "property"),
    },
    roles={
        "function_declaration.name": DEFINED,
        "generator_function_declaration.name": DEFINED,
        "function_expression.name": SKIP,
        "class_declaration.name": DEFINED,
        "abstract_class_declaration.name": DEFINED,
        "class.name": SKIP,
        "interface_declaration.name": DEFINED,
        "type_alias_declaration.name": DEFINED,
        "enum_declaration.name": DEFINED,
        "internal_module.name": DEFINED,
        "module.name": DEFINED,
        "function_signature.name": DEFINED,
        "method_definition.name": SKIP,
        "method_signature.name": SKIP,
        "abstract_method_signature.name": SKIP,
        "property_signature.name": SKIP,
        "public_field_definition.name": SKIP,
        "field_definition.property": SKIP,
        "enum_assignment.name": SKIP,
        "type_parameter.name": BIND,
        "mapped_type_clause.name": BIND,
        "infer_type": BIND,
        "pair.key": SKIP,
        "pair_pattern.key": SKIP,
        "jsx_attribute": READ,
        "property_identifier": SKIP,
        "labeled_statement.label": SKIP,
        "break_statement.label": SKIP,
        "continue_statement.label": SKIP,
        "variable_declarator.name": BIND,
        "for_in_statement.left": BIND,
        "catch_clause.parameter": BIND,
        "formal_parameters": BIND,
        "arrow_function.parameter": BIND,
        "required_parameter.value": READ,
        "optional_parameter.value": READ,
        "assignment_pattern.right": READ,
        "object_assignment_pattern.right": READ,
        "class_heritage": INHERITED,
        "extends_type_clause": INHERITED,
        "type_annotation": TYPED,
        "type_arguments": TYPED,
        "decorator": CALLED,
        "jsx_opening_element.name": CALLED,
        "jsx_self_closing_element.name": CALLED,
        "jsx_closing_element": SKIP,
        "type_predicate.name": SKIP,
        "index_signature.name": SKIP,
        "namespace_export": SKIP,
    },
    functions=frozenset(
        {
            "function_declaration", "function_expression", "arrow_function", "method_definition",
            "generator_function_declaration", "generator_function", "method_signature", "function_type",
            "function_signature", "abstract_method_signature", "construct_signature", "call_signature",
            "constructor_type", "type_alias_declaration",
        }
    ),
    classes=frozenset(
        {"class_declaration", "class", "abstract_class_declaration", "interface_declaration"}
    ),
    assigns={
        "variable_declarator": ("name", "value", "type"),
        "assignment_expression": ("left", "right", ""),
        "required_parameter": ("pattern", "", "type"),
        "optional_parameter": ("pattern", "", "type"),
        "public_field_definition": ("name", "value", "type"),
        "field_definition": ("property", "value", ""),
        "property_signature": ("name", "", "type"),
    },
    returns={
        "function_declaration": "return_type",
        "method_definition": "return_type",
        "method_signature": "return_type",
        "abstract_method_signature": "return_type",
        "function_signature": "return_type",
        "arrow_function": "return_type",
        "function_expression": "return_type",
    },
    loops={"for_in_statement": ("left", "right")},
    indexed={"subscript_expression": "object"},
    returned=frozenset({"return_statement"}),
    imports=frozenset({"import_statement", "export_statement", "import_alias"}),
    literals=frozenset(
        {
            "string", "template_string", "number", "regex", "array", "object", "true", "false", "null", "undefined",
            "binary_expression", "unary_expression", "arrow_function", "function_expression",
        }
    ),
    wrappers=frozenset(
        {"parenthesized_expression", "await_expression", "non_null_expression", "satisfies_expression"}
    ),
    casts={"as_expression": -1},
    promoted={"required_parameter": "accessibility_modifier"},
    exports=True,
)  # fmt: skip

RULES = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
}
