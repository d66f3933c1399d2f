import { type Command, Option } from 'commander';
import { group } from '../arguments.ts';
import type { Draft } from '../import/draft.ts';
import type { GivenLangfuse } from '../import/langfuse-api.ts';
import type { ImportOptions } from '../import/run-import.ts';

/** Commands that write `cueline.yaml` from the prompts of other systems. */
export function importCommands(program: Command): void {
  const command = group(program, 'import', 'write cueline.yaml from the prompts of another system');
  importCommand(command, 'openai-prompts', "from OpenAI's reusable prompts in a file")
    .argument('<file>', 'YAML or JSON: one prompt object or a list; - reads standard input')
    .action((file: string, options: ImportOptions) =>
      importing(options, async (draft, signal) =>
        (await import('../import/openai-prompts.ts')).importOpenAIPrompts(draft, file, signal),
      ),
    );
  importCommand(
    command,
    'promptfoo',
    'from a configuration of promptfoo; its tests become examples',
  )
    .argument('<config>', 'promptfooconfig.yaml')
    .action((file: string, options: ImportOptions) =>
      importing(options, async (draft, signal) =>
        (await import('../import/promptfoo.ts')).importPromptfoo(draft, file, signal),
      ),
    );
  importCommand(command, 'langfuse', 'from a project of Langfuse, with all versions of its prompts')
    .requiredOption('--url <url>', 'of the Langfuse server, such as https://cloud.langfuse.com')
    .option('--key <public:secret>', 'API key of the project')
    .addOption(new Option('--public-key <key>', 'instead of --key').env('LANGFUSE_PUBLIC_KEY'))
    .addOption(new Option('--secret-key <key>', 'instead of --key').env('LANGFUSE_SECRET_KEY'))
    .action((options: ImportOptions & GivenLangfuse) =>
      importing(options, async (draft, signal) =>
        (await import('../import/langfuse.ts')).importLangfuse(draft, options, signal),
      ),
    );
}

function importCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--force', 'overwrite an existing cueline.yaml')
    .option('--model <provider/model>', 'model of agents for which none is known');
}

async function importing(
  options: ImportOptions,
  read: (draft: Draft, signal: AbortSignal) => Promise<void>,
): Promise<never> {
  return (await import('../import/run-import.ts')).runImport(options, read);
}
