/** How many timers of this process are armed and would keep it from ending. */
export function timers (): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}
