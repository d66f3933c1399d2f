import { type Command, Option } from 'commander';
import { sorts } from '../../core/history/sort-order.ts';
import { collectPair, identifier, wholeNumber } from '../arguments.ts';
import { calling, serverCommand } from './server-command.ts';

/** Commands that read the history: list, export and statistics. */
export function historyCommands(program: Command): void {
  const history = withFilters(
    serverCommand(program, 'history', 'list the records of an agent or of all agents'),
  )
    // Options after "export" belong to the subcommand.
    .enablePositionalOptions()
    .addOption(
      new Option('--sort <order>', 'order; with - descending (default: -executedAt)').choices(
        sorts,
      ),
    )
    .option('--totals', 'also print the sums over all matching records')
    .option('--limit <n>', 'maximum number of records, up to 100 (default: 20)', wholeNumber)
    .addOption(new Option('--all', 'list all matching records').conflicts(['limit', 'totals']))
    .action(calling(async () => (await import('../client/list-history.ts')).history));
  withFilters(serverCommand(history, 'export', 'export all matching records as JSON lines or CSV'))
    .addOption(
      new Option('--format <format>', 'output format (default: jsonl)').choices(['jsonl', 'csv']),
    )
    .option('--bom', 'CSV for spreadsheets: with a byte order mark and without formulas')
    .option('--output <file>', 'write to a file instead of standard output')
    .option('--resume', 'continue after the last complete record of the file')
    .action(calling(async () => (await import('../client/export-command.ts')).exportHistory));
  serverCommand(history, 'sessions', 'list sessions, those with the newest records first')
    .option('--user <user>', 'only executions for this user')
    .option('--agent-id <agent>', 'only executions of this agent')
    .option('--limit <n>', 'maximum number of sessions, up to 100 (default: 20)', wholeNumber)
    .option('--cursor <cursor>', 'nextCursor of the previous page')
    .action(calling(async () => (await import('../client/list-history.ts')).sessions));
  serverCommand(program, 'statistics', 'show the statistics of an agent or of all agents')
    .argument('[agent]', 'id, slug or alias of the agent', identifier)
    .option(
      '--level <level>',
      'interval: minute, quarterHour, hour, sixHours, day, week or all (default: day)',
    )
    .option(
      '--group-by <fields>',
      'comma-separated: agent, status, source, version, model, key, errorCode, one of user, tag and metadata.NAME, or none',
    )
    .option('--playground <marks>', playgroundText)
    .option('--time-zone <zone>', 'time zone of the days, such as Europe/Berlin (default: UTC)')
    .option('--start-date <time>', 'ISO 8601, inclusive')
    .option('--end-date <time>', 'ISO 8601, inclusive')
    .action(calling(async () => (await import('../client/statistics-command.ts')).statistics));
}

const playgroundText =
  'true: only executions of the playground, true,false: also those (default: false)';

function withFilters(command: Command): Command {
  return command
    .argument('[agent]', 'id, slug or alias of the agent', identifier)
    .option('--status <status>', 'success, failed, rate_limited, canceled or unauthorized')
    .option('--source <source>', 'dashboard, api or workflow')
    .option('--playground <marks>', playgroundText)
    .option('--start-date <time>', 'ISO 8601, inclusive')
    .option('--end-date <time>', 'ISO 8601, inclusive')
    .option('--prompt-version-id <version>', 'only executions of this prompt version')
    .option('--model <model>', 'only executions of this model')
    .option('--api-key <key>', 'only calls with the API key of this id')
    .option('--error-code <code>', 'only records with this error code')
    .option('--user <user>', 'only executions for this user')
    .option('--session <session>', 'only executions of this session')
    .option('--tag <tag>', 'only executions with this tag')
    .option(
      '--metadata <name=value>',
      'only executions with this value in the metadata; repeatable',
      collectPair,
    )
    .option('--var <name=value>', 'only records with this variable value; repeatable', collectPair)
    .option('--q <words>', 'only records whose output or variables contain these words');
}
