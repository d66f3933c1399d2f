import type { Command } from 'commander';
import { group, identifier } from '../arguments.ts';
import { runCall } from '../client/run-call.ts';

/** Commands for batches. */
export function batchCommands(
  program: Command,
  serverCommand: (parent: Command, name: string, description: string) => Command,
): void {
  const batch = group(program, 'batch', 'run files of calls');
  serverCommand(batch, 'run', 'upload a file of calls and print the results as JSON lines')
    .argument('<file>', 'JSON lines with id and variables; - for standard input')
    .requiredOption('--agent <agent>', 'id, slug or alias of the agent', identifier)
    .option('--idempotency-key <key>', 'continues an interrupted upload with the same key')
    .action((file, options) =>
      runCall(options, async (call, own: { agent: string; idempotencyKey?: string }) =>
        (await import('../client/batch.ts')).runBatch(call, file, own),
      ),
    );
}
