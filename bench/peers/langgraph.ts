import { join } from 'node:path';
import { startServer } from '@langchain/langgraph-api/server';

/**
 * The LangGraph API server as `langgraphjs dev` starts it, with ten workers and a graph that responds immediately. This
 * version needs no licence and no container. It stores everything in memory and writes a file from time to time.
 */
const port = Number(process.env.PORT);
await startServer({
  port,
  nWorkers: 10,
  host: '127.0.0.1',
  cwd: process.cwd(),
  graphs: { echo: `${join(import.meta.dirname, 'langgraph-graph.mjs')}:graph` },
});
console.log(`listening at http://127.0.0.1:${port}`);
process.once('SIGTERM', () => process.exit());
