import { type Command, Option } from 'commander';
import { identifier, pair, wholeNumber } from '../arguments.ts';
import { runCall } from './run-call.ts';

/** What the history says: its records, page by page or as a file, and what they add up to. */
export function historyCommands(
  program: Command,
  calling: (parent: Command, name: string, description: string) => Command,
): void {
  const history = filtered(
    calling(program, 'history', 'the records of an agent, or without one of all, newest first'),
  )
    // What stands after "export" is the export's.
    .enablePositionalOptions()
    .option('--limit <n>', 'at most so many, up to 100; 20 unless given', wholeNumber)
    .addOption(new Option('--all', 'every one that matches').conflicts('limit'))
    .action((agent, options) =>
      runCall(options, async (call, own) =>
        (await import('../client/history.ts')).history(call, agent ?? null, own),
      ),
    );
  filtered(calling(history, 'export', 'all that match, whole, as JSON lines or CSV'))
    .addOption(new Option('--format <format>', 'jsonl unless given').choices(['jsonl', 'csv']))
    .option('--output <file>', 'into a file instead of standard output')
    .option('--resume', 'go on after the last whole record of the file')
    .action((agent, options) =>
      runCall(options, async (call, own) =>
        (await import('../client/export.ts')).exportHistory(call, agent ?? null, own),
      ),
    );
  calling(program, 'statistics', 'what an agent has done, or without one all of them')
    .argument('[agent]', 'its identifier', identifier)
    .option('--level <level>', 'steps of a minute, hour or day, or all; day unless given')
    .option(
      '--group-by <fields>',
      'some of agent,status,source,version,model,key,errorCode, or none',
    )
    .option('--time-zone <zone>', 'whose days are meant, such as Europe/Berlin; UTC unless given')
    .option('--start-date <time>', 'ISO 8601, inclusive')
    .option('--end-date <time>', 'ISO 8601, inclusive')
    .action((agent, options) =>
      runCall(options, async (call, own) =>
        (await import('../client/statistics.ts')).statistics(call, agent, own),
      ),
    );
}

function filtered(command: Command): Command {
  return command
    .argument('[agent]', 'its identifier', identifier)
    .option('--status <status>', 'success, failed, rate_limited, canceled or unauthorized')
    .option('--source <source>', 'dashboard, api or workflow')
    .option('--start-date <time>', 'ISO 8601, inclusive')
    .option('--end-date <time>', 'ISO 8601, inclusive')
    .option('--prompt-version-id <version>', 'only runs of this prompt version')
    .option('--model <model>', 'only runs of this model')
    .option('--api-key <key>', 'only calls with this API key, named by its identifier')
    .option('--error-code <code>', 'only records with this error code')
    .option('--var <name=value>', 'only records with this value; may be repeated', pair)
    .option('--q <words>', 'only records whose output or variables hold these words');
}
