"""The rules of Go, Rust, C, C++ and Zig."""

from __future__ import annotations

from slicegrep.outline.rules import Rules

__all__ = ["RULES"]

_GO = """
(function_declaration) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @scope)) name: (_) @name) @method
(type_spec name: (_) @name type: (struct_type)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec) @type
(type_alias) @type
(var_spec . name: (identifier) @name value: (expression_list . (func_literal) @value)) @function
(source_file (var_declaration (var_spec . name: (_) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec . name: (_) @name) @variable)))
(source_file (const_declaration . (const_spec . name: (_) @name)) @variable)
(interface_type (method_elem name: (_) @name) @method)
(type_declaration "type" . (type_spec) @inner) @wrap
(type_declaration "type" . (type_alias) @inner) @wrap
(var_declaration "var" . (var_spec) @inner) @wrap
"""

_RUST = """
(function_item) @function
(function_signature_item) @function
(struct_item) @struct
(enum_item) @enum
(union_item) @union
(trait_item) @trait
(impl_item type: (_) @name) @impl
(mod_item) @namespace
(macro_definition) @macro
(type_item) @type
(const_item) @variable
(static_item) @variable
(attribute_item) @attribute
"""

_C = """
(translation_unit (expression_statement (call_expression function: (identifier) @name @callee arguments: (_) @more)) @test
  . (compound_statement) @tail)
(function_definition) @function
(struct_specifier) @struct
(union_specifier) @union
(enum_specifier) @enum
(type_definition type: [(struct_specifier !name body: (_)) (union_specifier !name body: (_))] declarator: (_) @declarator) @struct
(type_definition type: (enum_specifier !name body: (_)) declarator: (_) @declarator) @enum
(type_definition) @wrap
(type_definition) @typedef
(declaration declarator: (init_declarator declarator: (function_declarator) @declarator value: (initializer_list) @body)) @function
(declaration declarator: (init_declarator declarator: (_) @declarator value: (initializer_list) @body)) @variable
(declaration declarator: [(function_declarator) (pointer_declarator declarator: (function_declarator))] @declarator) @declaration
"""

_CPP_ONLY = """
(declaration_list (expression_statement (call_expression function: (identifier) @name @callee arguments: (_) @more)) @test
  . (compound_statement) @tail)
(class_specifier) @class
(namespace_definition) @namespace
(concept_definition) @concept
(alias_declaration) @type
(declaration declarator: (init_declarator declarator: (_) @declarator value: (lambda_expression body: (_) @body))) @function
(declaration declarator: (reference_declarator (function_declarator) @declarator)) @declaration
(field_declaration declarator: [(function_declarator) (pointer_declarator declarator: (function_declarator))
  (reference_declarator (function_declarator))] @declarator) @declaration
(template_declaration) @wrap
"""

_CPP = _CPP_ONLY + _C

_ZIG = """
(function_declaration) @function
(variable_declaration . (identifier) @name (struct_declaration)) @struct
(variable_declaration . (identifier) @name (enum_declaration)) @enum
(variable_declaration . (identifier) @name (union_declaration)) @union
(variable_declaration . (identifier) @name [(opaque_declaration) (error_set_declaration)]) @type
(test_declaration [(string) (identifier)] @name) @test
(source_file (variable_declaration . (identifier) @name) @variable)
"""

_BODILESS = {"function": "declaration", "struct": "", "union": "", "enum": "", "class": ""}

_CALLED = "[A-Z][A-Z0-9_]{2,}"
"""TEST(Suite, Name) {"""

_MACRO = rb"\b_*[A-Z][A-Z0-9_]*_[A-Z0-9_]*\b"
_CALL = rb"(?:[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))"
_SPECIFIERS = (
    rb"(?:(?:static|inline|virtual|explicit|constexpr|friend|extern|typedef|template[ \t]*<[^<>\n]*>)[ \t]+)*"
)
_IN_THE_WAY = (
    # class EXPORT Name : Base {
    (
        rb"\b(?:class|struct|union|enum(?:[ \t]+class)?)[ \t]+(_*[A-Z][A-Z0-9_]{2,}" + _CALL + rb"?)"
        rb"(?=[ \t]+[A-Za-z_][\w:<>, ]*(?:[ \t]+final)?[ \t]*(?::[^:;{\n][^;{\n]*)?(?:[{;]|$))",
        b" ",
    ),
    # namespace std VISIBILITY(default) {
    (rb"\bnamespace[ \t]+[\w:]+[ \t]+(_*[A-Z][A-Z0-9_]{2,}" + _CALL + rb"?)(?=\s*\{)", b" "),
    # void f(int a) const REQUIRES(mutex) {
    (
        rb"\)(?:\s*(?:const|override|final|noexcept|volatile|&&?))*((?:\s*\b_*[A-Z][A-Z0-9_]{3,}\b"
        + _CALL
        + rb"?)+)"
        rb"(?=(?:\s*(?:override|final|noexcept|=[ \t]*(?:default|delete|0)))*\s*[:{;])",
        b" ",
    ),
    # EXPORT(static int f(int a)) {
    (
        rb"^([A-Z][A-Z0-9_]{2,}[ \t]*\()(?:[^;{}()]{0,200}\w[\s*&]+\w+[ \t]*\([^;{}]{0,1000}\))[ \t]*(\))(?=\s*\{)",
        b" ",
    ),
)
_MACRO_REPAIRS = (
    # void f(list init = {})
    (rb"(=\s*\{\s*\})(?=\s*[,)])", b" "),
    # BEGIN_NAMESPACE, Q_OBJECT, UCLASS(Blueprintable) on lines of their own
    (
        rb"^[ \t]*(?:(" + _MACRO + _CALL + rb"?|[A-Z][A-Z0-9]{2,}" + _CALL + rb"))[ \t]*;?[ \t]*$(?!\s*\{)",
        b" ",
    ),
    # EXPORT_MACRO int f(); static NODISCARD_MACRO(1) bool g() {
    (rb"^[ \t]*" + _SPECIFIERS + rb"(" + _MACRO + _CALL + rb"?)(?=[ \t]+[A-Za-z_~:])", b" "),
    (
        rb"\b(?:static|inline|virtual|explicit|friend|extern)[ \t]+("
        + _MACRO
        + _CALL
        + rb"?)(?=[ \t]+[A-Za-z_~:])",
        b" ",
    ),
    # extern template class A<int>;
    (rb"^[ \t]*(extern[ \t]+template[ \t]+[^;{}\n]*;)", b" "),
    # PRIVATE_UNLESS_TESTED: and Qt's sections
    (rb"^[ \t]*(" + _MACRO + rb"[ \t]*:)[ \t]*$", b" "),
    (rb"^[ \t]*(?:(?:public|private|protected)[ \t]+(slots|Q_SLOTS)|(signals[ \t]*:))", b" "),
)
_C_ATTRIBUTES = r"\[\[[^\]]*\]\]\s*"

RULES = {
    "go": Rules(_GO, absolute_scope=True),
    "rust": Rules(_RUST, separator="::", bodiless={"namespace": ""}, annotations=r"#\[[^\]]*\]\s*"),
    "c": Rules(
        _C,
        preprocessor=True,
        annotations=_C_ATTRIBUTES,
        called=_CALLED,
        callees={"test": _CALLED},
        renamed={"test": "function"},
        bodiless=_BODILESS,
        overwritten=_IN_THE_WAY,
        hollow=True,
        repairs=_MACRO_REPAIRS,
    ),
    "cpp": Rules(
        _CPP,
        separator="::",
        split="::",
        preprocessor=True,
        annotations=_C_ATTRIBUTES,
        called=_CALLED,
        callees={"test": _CALLED},
        renamed={"test": "function"},
        bodiless=_BODILESS,
        overwritten=_IN_THE_WAY,
        hollow=True,
        repairs=_MACRO_REPAIRS,
    ),
    "zig": Rules(_ZIG, renamed={"test": "function"}, annotations="(?!)"),
}
