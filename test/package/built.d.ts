export function isBuilt (): boolean
