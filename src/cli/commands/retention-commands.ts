import type { Command } from 'commander';
import { collectPair, identifier, numberOrNone } from '../arguments.ts';
import { calling, plainCommand, serverCommand } from './server-command.ts';

/** Commands for retention and deletion. Each calls a running server. */
export function retentionCommands(program: Command): void {
  const cli = () => import('../client/retention-command.ts');
  serverCommand(program, 'retention', 'show the retention of records; with options, change it')
    .option('--records-days <days>', 'days to keep records, or none for forever', numberOrNone)
    .option(
      '--bodies-days <days>',
      'days to keep bodies, or none for as long as the record',
      numberOrNone,
    )
    .action(calling(async () => (await cli()).retention));
  const deletion = 'permanently delete the record of an ended execution';
  plainCommand(program, 'delete', 'deleteExecution', deletion, {
    done: ({ executionId }) => `Deleted the record of ${executionId}.`,
  })
    .argument('<agent>', 'id, slug or alias of the agent', identifier)
    .argument('<execution>', 'id of the execution', identifier);
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
    .action(calling(async () => (await cli()).erase));
  const erasures = 'list the erasures and their progress, newest first';
  plainCommand(program, 'erasures', 'listErasures.erasures', erasures, {
    columns: [
      ...(['erasureId', 'status', 'by', 'variable', 'metadata'] as const),
      ...(['deleted', 'waiting', 'requestedAt'] as const),
    ],
  });
}
