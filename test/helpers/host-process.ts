// A host in a process of its own, started with the plugin's options as JSON. It prints its URL.
import { startHost } from './host.ts'

const { url } = await startHost({ teardown () {} }, JSON.parse(process.argv[2] as string))
console.log(url)
