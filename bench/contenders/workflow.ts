import type { TestAgent } from '../../harness/agents.ts';
import { addWorkflow, step } from '../../harness/workflow-runs.ts';
import type { StepDefinition } from '../../src/core/workflow/definition.ts';
import { sql } from '../../src/db/sql.ts';
import type { Contender } from './contender.ts';
import { openCueline, postgresDurability } from './cueline.ts';

/** Cueline as shipped, with executions that are steps of workflow runs. */
export function workflow(options: {
  readonly name: string;
  readonly shape: 'chain' | 'join';
  readonly steps: number;
}): Contender {
  return {
    name: options.name,
    durability: postgresDurability,
    async open(environment) {
      const opened = await openCueline(environment, { name: options.name, roles: ['start'] });
      const { db, workspaceId, agent } = opened;
      const { workflowId } = await addWorkflow(
        { db, workspaceId },
        { steps: shapes[options.shape](agent, options.steps) },
      );
      return {
        ...opened,
        target: {
          ...opened.target,
          path: `/api/v1/workflows/${workflowId}/execute`,
          body: JSON.stringify({ input: { name: 'a reader of the tide tables' } }),
        },
        async reset() {
          await opened.reset();
          await sql`truncate workflow_runs cascade`.execute(db);
        },
      };
    },
  };
}

const shapes = {
  chain: (agent: TestAgent, steps: number): StepDefinition[] =>
    Array.from({ length: steps }, (_, at) => {
      const name = at === 0 ? '{{input.name}}' : `{{steps.s${at - 1}.output}}`;
      return step({ name: `s${at}`, agent, variables: { name } });
    }),
  join: (agent: TestAgent, steps: number): StepDefinition[] => {
    const parallel = Array.from({ length: steps - 1 }, (_, at) =>
      step({ name: `s${at}`, agent, variables: { name: '{{input.name}}' } }),
    );
    const name = parallel.map((one) => `{{steps.${one.name}.output}}`).join(' ');
    return [...parallel, step({ name: 'join', agent, variables: { name } })];
  },
};
