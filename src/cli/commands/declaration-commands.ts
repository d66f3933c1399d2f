import type { Command } from 'commander';
import { runCall } from './run-call.ts';

/** `cueline pull`, `diff` and `apply`: prompts, agents and workflows as code. */
export function declarationCommands(
  program: Command,
  calling: (parent: Command, name: string, description: string) => Command,
): void {
  const cli = () => import('../client/declaration.ts');
  const file = ['[file]', '- is standard input or output', 'cueline.yaml'] as const;
  calling(program, 'pull', 'write what is there as a file: prompts, agents, workflows')
    .argument(...file)
    .action((path, options) => runCall(options, async (call) => (await cli()).pull(call, path)));
  calling(program, 'diff', 'show what applying a file would change')
    .argument(...file)
    .action((path, options) => runCall(options, async (call) => (await cli()).diff(call, path)));
  calling(program, 'apply', 'make what is there as a file declares it: all of it, or nothing')
    .argument(...file)
    .action((path, options) => runCall(options, async (call) => (await cli()).apply(call, path)));
}
