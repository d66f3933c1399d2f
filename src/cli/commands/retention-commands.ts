import type { Command } from 'commander';
import { type Bound, bound, identifier, orNull, pair } from '../arguments.ts';
import { runCall } from './run-call.ts';

/** How long records are kept, and deleting them before that; each command calls a running server. */
export function retentionCommands(
  program: Command,
  calling: (parent: Command, name: string, description: string) => Command,
): void {
  const cli = () => import('../client/retention.ts');
  calling(program, 'retention', 'how many days records are kept; with an option, sets it')
    .option('--records-days <days>', 'a number, or none for ever', bound)
    .option('--bodies-days <days>', 'a number, or none for as long as the record', bound)
    .action((options) =>
      runCall(options, async (call, own) => (await cli()).retention(call, change(own))),
    );
  calling(program, 'delete', 'delete the record of a run that has ended, for good')
    .argument('<agent>', 'its identifier', identifier)
    .argument('<execution>', 'identifier of the run', identifier)
    .action((agent, execution, options) =>
      runCall(options, async (call) => (await cli()).deleteExecution(call, agent, execution)),
    );
  calling(program, 'erase', 'delete all records of an end user; prints the id of the erasure')
    .argument('<name=value>', 'the variable that names them', pair)
    .option('--agent <agent>', 'only the records of this agent', identifier)
    .action(([user], options) =>
      runCall(options, async (call, own) => (await cli()).erase(call, user, own)),
    );
  calling(program, 'erasures', 'how far the erasures have come, newest first').action((options) =>
    runCall(options, async (call) => (await cli()).listErasures(call)),
  );
}

/** Only what was given: the rest stays as it is. */
function change({ recordsDays, bodiesDays }: { recordsDays?: Bound; bodiesDays?: Bound }) {
  return {
    ...(recordsDays !== undefined && { recordsDays: orNull(recordsDays) }),
    ...(bodiesDays !== undefined && { bodiesDays: orNull(bodiesDays) }),
  };
}
