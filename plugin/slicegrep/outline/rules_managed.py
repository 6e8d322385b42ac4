"""The rules of Java, C#, Kotlin, Swift, Scala, Dart and Haskell."""

from __future__ import annotations

from slicegrep.outline.rules import Rules

__all__ = ["RULES"]

_JAVA = """
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(record_declaration name: (_) @name) @record
(annotation_type_declaration name: (_) @name) @interface
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @constructor
(compact_constructor_declaration name: (_) @name) @constructor
(annotation_type_element_declaration name: (_) @name) @method
(enum_constant name: (_) @name body: (_)) @qualifier
(field_declaration declarator: (variable_declarator name: (_) @name value: (lambda_expression body: (_) @body))) @method
(field_declaration declarator: (variable_declarator name: (_) @name)) @variable
"""

_CSHARP = """
(class_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @struct
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(record_declaration name: (_) @name) @record
(delegate_declaration name: (_) @name) @type
(namespace_declaration name: (_) @name) @namespace
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @constructor
(destructor_declaration "~" @name name: (_) @more) @method
(local_function_statement name: (_) @name) @function
(operator_declaration "operator" @name operator: _ @more) @method
(conversion_operator_declaration "operator" @name type: (_) @more) @method
(indexer_declaration "this" @name) @property
(property_declaration name: (_) @name accessors: (accessor_list (accessor_declaration body: (_)))) @property
(property_declaration name: (_) @name value: (arrow_expression_clause) @body) @property
(event_declaration name: (_) @name) @property
(field_declaration (variable_declaration (variable_declarator name: (_) @name (lambda_expression body: (_) @body)))) @method
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @variable
"""

_KOTLIN = """
(class_declaration "interface" name: (_) @name [(class_body) (enum_class_body)]? @body) @interface
(class_declaration name: (_) @name (enum_class_body) @body) @enum
(class_declaration name: (_) @name (class_body) @body) @class
(class_declaration name: (_) @name) @class
(object_declaration name: (_) @name) @object
(companion_object name: (_) @name) @object
(companion_object "object" @known) @object
(function_declaration (user_type) @scope . name: (_) @name (function_body) @body) @method
(function_declaration (user_type) @scope . name: (_) @name) @method
(function_declaration name: (_) @name (function_body) @body) @function
(function_declaration name: (_) @name) @function
(secondary_constructor "constructor" @name (block) @body) @constructor
(secondary_constructor "constructor" @name) @constructor
(anonymous_initializer "init" @name (block) @body) @method
(property_declaration (variable_declaration . (identifier) @name) [(getter) (setter)] @body) @property
(property_declaration (variable_declaration . (identifier) @name) [(lambda_literal) (anonymous_function)] @body) @function
(property_declaration (variable_declaration . (identifier) @name)) @variable
(type_alias (identifier) @name) @type
(enum_entry (identifier) @name (class_body)) @qualifier
(annotated_expression) @attribute
"""

_SWIFT = """
(class_declaration declaration_kind: "struct" name: (_) @name) @struct
(class_declaration declaration_kind: "enum" name: (_) @name) @enum
(class_declaration declaration_kind: "extension" name: (_) @name) @extension
(class_declaration declaration_kind: "actor" name: (_) @name) @actor
(class_declaration name: (_) @name) @class
(protocol_declaration name: (_) @name) @protocol
(function_declaration name: _ @name) @function
(protocol_function_declaration name: _ @name) @method
(init_declaration "init" @name) @constructor
(deinit_declaration "deinit" @name) @method
(subscript_declaration "subscript" @name) @method
(property_declaration name: (pattern . (simple_identifier) @name) computed_value: (_) @body) @property
(property_declaration name: (pattern . (simple_identifier) @name) value: (lambda_literal) @body) @function
(property_declaration name: (pattern . (simple_identifier) @name)) @variable
(typealias_declaration name: (type_identifier) @name) @type
(macro_declaration . (simple_identifier) @name) @macro
"""

_SCALA = """
(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @object
(package_object name: (_) @name) @object
(trait_definition name: (_) @name) @trait
(enum_definition name: (_) @name) @enum
(given_definition name: (_) @name) @object
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(val_definition pattern: (identifier) @name value: [(lambda_expression) (block . (lambda_expression) .)] @body) @function
(val_definition pattern: (identifier) @name) @variable
(type_definition name: (_) @name) @type
"""

_DART_MEMBER = """[(function_signature name: (_) @name) (getter_signature name: (_) @name) (setter_signature name: (_) @name)
  (operator_signature "operator" @name . (_) @more) (constructor_signature name: (_) . name: (_) @name)
  (factory_constructor_signature (identifier) . (identifier) @name)
  (constant_constructor_signature (identifier) . (identifier) @name)
  (redirecting_factory_constructor_signature (identifier) . (identifier) @name)]"""
_DART_CONSTRUCTOR = """[(constructor_signature name: (_) @name) (factory_constructor_signature (identifier) @name)
  (constant_constructor_signature (identifier) @name)]"""

_DART = f"""
(class_definition name: (_) @name) @class
(mixin_declaration (identifier) @name) @mixin
(extension_declaration name: (_) @name) @extension
(extension_declaration !name class: (_) @name) @extension
(extension_type_declaration name: (_) @name) @extension
(enum_declaration name: (_) @name) @enum
(type_alias . (type_identifier) @name) @type
((method_signature {_DART_MEMBER}) @method . (function_body) @tail)
((method_signature {_DART_CONSTRUCTOR}) @constructor . (function_body) @tail)
(declaration {_DART_MEMBER}) @method
(declaration {_DART_CONSTRUCTOR}) @constructor
((function_signature name: (_) @name) @function . (function_body) @tail)
((getter_signature name: (_) @name) @function . (function_body) @tail)
((setter_signature name: (_) @name) @function . (function_body) @tail)
(static_final_declaration . (identifier) @name) @variable
(annotation) @attribute
"""

_HASKELL = """
(signature name: (_) @name) @signature
(function name: (_) @name) @function
(function (infix operator: (_) @name)) @function
(declarations (bind name: (variable) @name) @function)
(class_declarations (bind name: (variable) @name) @function)
(instance_declarations (bind name: (variable) @name) @function)
(bind name: (variable) @name match: (match expression: (lambda))) @function
(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synonym name: (_) @name) @type
(type_family name: (_) @name) @type
(class name: (_) @name) @class
(instance name: (_) @name patterns: (_) @more) @instance
(instance name: (_) @name) @instance
(pattern_synonym (equation synonym: (apply function: (_) @name))) @function
"""

RULES = {
    "java": Rules(_JAVA),
    "csharp": Rules(
        _CSHARP, preprocessor=True, annotations=r"\[[^\]]*\]\s*", ends=r"\{|=>|;\s*$", split=r"\."
    ),
    "kotlin": Rules(_KOTLIN, unnamed="Companion", repairs=((rb"[ \t](?=\}[ \t]*$)", b";"),)),
    "swift": Rules(_SWIFT, split=r"\."),
    "scala": Rules(_SCALA),
    "dart": Rules(_DART),
    "haskell": Rules(_HASKELL, equations=True, ends=r"\n|\s=(?=\s)|\s\|(?=\s)|\swhere\b", annotations="(?!)"),
}
