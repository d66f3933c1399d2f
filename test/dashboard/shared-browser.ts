import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserServer } from 'playwright-core';

/**
 * One browser for all files of a run, as a start takes seconds. Whoever begins the run hands it out; it is started when
 * the first file asks.
 */

/** Where files are told of it. */
export const browserVariable = 'CUELINE_TEST_BROWSER';

/** Answers how to end it. */
export async function shareBrowser(): Promise<() => Promise<void>> {
  let started: Promise<BrowserServer> | undefined;
  const server = createServer((_request, response) => {
    started ??= import('./chromium.ts').then(({ serveBrowser }) => serveBrowser());
    started.then(
      (browser) => response.end(browser.wsEndpoint()),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  process.env[browserVariable] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    server.close();
    server.closeAllConnections();
    await (await started?.catch(() => null))?.close();
  };
}
