import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What whoever begins a run of the tests hands out to its processes, over HTTP: the address of the one browser, the next
 * file to run.
 */

/** Where processes ask. */
const variable = 'CUELINE_TEST_HAND_OUT';

export interface HandOut {
  /** The browser that all files share, as a start takes seconds; it is started when the first file asks. */
  browser(): Promise<string>;
  /** Null once none is left. */
  file(): string | null;
}

/** Answers how to end it. */
export async function handOut(things: HandOut): Promise<() => void> {
  const server = createServer(async (request, response) => {
    // Who has computed for seconds would send the next question on a connection that was closed meanwhile.
    response.shouldKeepAlive = false;
    try {
      const thing = await things[request.url?.slice(1) as keyof HandOut]();
      response.end(JSON.stringify(thing));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  process.env[variable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

/** Not where a file is run by itself. */
export function isHandedOut(): boolean {
  return process.env[variable] !== undefined;
}

export async function askFor<Thing extends keyof HandOut>(
  thing: Thing,
): Promise<Awaited<ReturnType<HandOut[Thing]>>> {
  const address = process.env[variable];
  if (!address) throw new Error('nothing is handed out: give node --test-global-setup');
  const response = await fetch(address + thing);
  const told = await response.text();
  if (!response.ok) throw new Error(told);
  return JSON.parse(told);
}
