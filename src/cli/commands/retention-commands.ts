import type { Command } from 'commander';
import {
  collectPair,
  identifier,
  type NumberOrNone,
  noneToNull,
  numberOrNone,
} from '../arguments.ts';
import { runCall } from '../client/run-call.ts';

/** Commands for retention and deletion. Each calls a running server. */
export function retentionCommands(
  program: Command,
  serverCommand: (parent: Command, name: string, description: string) => Command,
): void {
  const cli = () => import('../client/retention.ts');
  serverCommand(program, 'retention', 'show the retention of records; with options, change it')
    .option('--records-days <days>', 'days to keep records, or none for forever', numberOrNone)
    .option(
      '--bodies-days <days>',
      'days to keep bodies, or none for as long as the record',
      numberOrNone,
    )
    .action((options) =>
      runCall(options, async (call, own) => (await cli()).retention(call, change(own))),
    );
  serverCommand(program, 'delete', 'permanently delete the record of an ended execution')
    .argument('<agent>', 'id, slug or alias of the agent', identifier)
    .argument('<execution>', 'id of the execution', identifier)
    .action((agent, execution, options) =>
      runCall(options, async (call) => (await cli()).deleteExecution(call, agent, execution)),
    );
  serverCommand(program, 'erase', 'delete all records of an end user; prints the erasure id')
    .argument('[name=value]', 'variable that identifies the end user', collectPair)
    .option('--user <user>', 'the user of the executions, instead of a variable')
    .option('--tag <tag>', 'a tag of the executions, instead of a variable')
    .option(
      '--metadata <name=value>',
      'a value of the metadata, instead of a variable',
      collectPair,
    )
    .option('--agent <agent>', 'only records of this agent', identifier)
    .action((variables, options) =>
      runCall(options, async (call, own) => (await cli()).erase(call, variables?.[0], own)),
    );
  serverCommand(program, 'erasures', 'list the erasures and their progress, newest first').action(
    (options) => runCall(options, async (call) => (await cli()).listErasures(call)),
  );
}

/** Contains only the given options, so that other settings do not change. */
function change({
  recordsDays,
  bodiesDays,
}: {
  recordsDays?: NumberOrNone;
  bodiesDays?: NumberOrNone;
}) {
  return {
    ...(recordsDays !== undefined && { recordsDays: noneToNull(recordsDays) }),
    ...(bodiesDays !== undefined && { bodiesDays: noneToNull(bodiesDays) }),
  };
}
