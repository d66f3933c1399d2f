import type { Command } from 'commander';
import { runCall } from '../client/run-call.ts';

/** Commands for prompts, agents and workflows as code. */
export function declarationCommands(
  program: Command,
  serverCommand: (parent: Command, name: string, description: string) => Command,
): void {
  const cli = () => import('../client/declaration.ts');
  const file = ['[file]', 'YAML file; - is standard input or output', 'cueline.yaml'] as const;
  serverCommand(program, 'pull', 'export prompts, agents and workflows to a file')
    .argument(...file)
    .action((path, options) => runCall(options, async (call) => (await cli()).pull(call, path)));
  serverCommand(program, 'diff', 'show the changes that apply would make')
    .argument(...file)
    .action((path, options) => runCall(options, async (call) => (await cli()).diff(call, path)));
  serverCommand(program, 'apply', 'apply a file: everything or nothing')
    .argument(...file)
    .action((path, options) => runCall(options, async (call) => (await cli()).apply(call, path)));
}
