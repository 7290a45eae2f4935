// A host in a process of its own, started with the plugin's options as JSON. It sends its URL.
import { startHost } from './host.ts'

const { url } = await startHost({ teardown () {} }, JSON.parse(process.argv[2] as string))
// The test process has ended.
process.on('disconnect', () => process.exit())
process.send?.(url)
