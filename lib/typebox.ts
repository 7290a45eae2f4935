// What the package uses of TypeBox. The build bundles it into this one file: TypeBox is 700 files, and importing
// those would take longer than importing Fastify.
export { Enum, Literal, Null, Number, Object, Optional, String, Union } from 'typebox/type'
export type { Static } from 'typebox/type'
export { Compile } from 'typebox/schema'
