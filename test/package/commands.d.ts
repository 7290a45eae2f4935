interface Packed {
  tarball: string
  size: number
  unpackedSize: number
  files: Array<{ path: string, size: number }>
}

export function mustRun (command: string, args: string[], options?: { cwd?: string, env?: object }): string
export function packed (): Packed
export function hostWith (files: string[], packages: string[]): string
