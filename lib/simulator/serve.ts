import { type Surroundings } from './run.ts'

export const SERVE_HELP = ''
export async function serve (_argv: string[], _surroundings: Surroundings): Promise<number> {
  return 2
}
