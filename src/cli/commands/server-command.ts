import type { Command } from 'commander';
import type { Method, Selection } from '../../client/method.ts';
import { callPlain, type Printing } from '../client/plain-call.ts';
import { type Call, type CallOptions, runCall } from '../client/run-call.ts';

/** Adds a command with the options for calling a server. */
export function serverCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print JSON, one object per line')
    .optionsGroup('Server:')
    .option('--url <url>', 'server URL (default: CUELINE_URL or http://127.0.0.1:PORT)')
    .option('--key <key>', 'API key (default: CUELINE_KEY, which other processes cannot see)')
    .optionsGroup('Options:');
}

/** The action of a command: passes the call, the arguments and the command's own options. */
export function calling(
  load: () => Promise<(call: Call, ...given: never[]) => Promise<void>>,
  errorCode?: number,
) {
  return (...given: unknown[]) =>
    runCall(
      given.at(-2) as CallOptions,
      async (call, own) => (await load())(call, ...([...given.slice(0, -2), own] as never[])),
      errorCode,
    );
}

/** The operation of each plain command. A test compares them with the contract. */
export const plainOperations = new Map<Command, Selection>();

/**
 * Adds a command that only calls an operation. Its arguments are the path parameters in their
 * order; its options are the fields of the query or the body.
 */
export function plainCommand<S extends Selection>(
  parent: Command,
  name: string,
  selection: S,
  description: string,
  printing: Printing<Awaited<ReturnType<Method<S>>>> = {},
): Command {
  const command = serverCommand(parent, name, description);
  plainOperations.set(command, selection);
  return command.action(
    calling(
      async () =>
        (call: Call, ...given: never[]) =>
          callPlain(call, selection, printing as Printing<never>, given),
    ),
  );
}
