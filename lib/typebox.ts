// What the package uses of TypeBox. The build bundles it into this one file: TypeBox has 700 files, and to import them
// would take longer than to import Fastify.
export { Enum, Literal, Null, Number, Object, Optional, String, Union } from 'typebox/type'
export type { Static } from 'typebox/type'
export { Compile } from 'typebox/schema'
