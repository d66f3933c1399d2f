import type { Command } from 'commander';
import { runCall } from '../client/run-call.ts';

/** Commands for the providers of a workspace. Each calls a running server. */
export function providerCommands(
  command: Command,
  serverCommand: (parent: Command, name: string, description: string) => Command,
): void {
  const cli = () => import('../client/providers.ts');
  const name = ['<name>', 'the part of its models before the slash'] as const;
  serverCommand(command, 'list', 'list the providers of the workspace').action((options) =>
    runCall(options, async (call) => (await cli()).listProviders(call)),
  );
  serverCommand(command, 'show', 'show a provider, without its secrets')
    .argument(...name)
    .action((provider, options) =>
      runCall(options, async (call) => (await cli()).showProvider(call, provider)),
    );
  serverCommand(command, 'put', 'create or replace a provider, credential included')
    .argument(...name)
    .argument(
      '<file>',
      'JSON as in the API: kind, apiKey, baseURL, headers, …; - reads standard input',
    )
    .action((provider, file, options) =>
      runCall(options, async (call) => (await cli()).putProvider(call, provider, file)),
    );
  serverCommand(command, 'delete', 'delete a provider and its credential')
    .argument(...name)
    .action((provider, options) =>
      runCall(options, async (call) => (await cli()).deleteProvider(call, provider)),
    );
  serverCommand(command, 'test', 'test the connection; exit code 1 if the test fails')
    .argument(...name)
    .option('--model <model>', 'send one small real call to this model, and print the exchange')
    .action((provider, options) =>
      runCall(options, async (call, own) => (await cli()).testProvider(call, provider, own)),
    );
}
