import type { Command } from 'commander';
import { collectText } from '../arguments.ts';
import { runCall } from '../client/run-call.ts';

/** Commands for events. */
export function eventCommands(
  program: Command,
  serverCommand: (parent: Command, name: string, description: string) => Command,
): void {
  serverCommand(
    program,
    'listen',
    'forward events, signed, to a URL on this machine; prints the secret. Needs the permission own',
  )
    .requiredOption('--forward-to <URL>', 'where to send the events')
    .option('--type <type>', 'only events of this type; repeatable', collectText)
    .action((options) =>
      runCall(options, async (call, own: { forwardTo: string; type?: string[] }) =>
        (await import('../client/listen.ts')).listen(call, own),
      ),
    );
}
