import { type Static, Type } from 'typebox';
import * as core from '../../core/workflow/definition.ts';
import * as limits from '../limits.ts';
import { patterns } from '../patterns.ts';
import { nullable, oneOf, reference, text } from '../shared.ts';

/** What a workflow is made of, as it is sent and as it is shown. What the parts must be to each other the core checks. */

const name = (description: string) =>
  Type.String({ pattern: patterns.workflowName.source, description, examples: ['triage'] });

const anyJson = (description: string) => Type.Unsafe<unknown>({ description });

const record = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    maxProperties: limits.variablesMax,
    description,
  });

const inputNames = (description: string) =>
  Type.Array(Type.String({ pattern: patterns.workflowName.source }), {
    maxItems: limits.variablesMax,
    uniqueItems: true,
    description,
  });

const input = {
  required: inputNames('What every run must be given; no default can stand in.'),
  optional: inputNames('What a run may be given.'),
  defaults: record('Name to the value that stands in where a run is given none.'),
};

const variables = record(
  "By the name of the agent's variable: any JSON; texts may hold references such as `{{input.ticket}}` or `{{steps.triage.output.kind}}`.",
);

const after = Type.Array(Type.String(), {
  maxItems: core.stepsMax,
  uniqueItems: true,
  description: 'Steps that it waits for, beside those it refers to.',
});

const when = Type.String({
  minLength: 1,
  maxLength: limits.conditionMax,
  description:
    'An expression in CEL over `input` and `steps`; where it is not true, the step is skipped.',
  examples: ["steps.triage.output.kind == 'billing'"],
});

const list = anyJson('A reference to a list, or a list.');
const concurrency = Type.Integer({
  minimum: 1,
  maximum: core.forEachConcurrencyMax,
  description: `Items under way at once; ${core.forEachConcurrencyDefault} unless set.`,
});
const max = Type.Integer({
  minimum: 1,
  maximum: core.forEachMaxMax,
  description: `The longest list; ${core.forEachMaxDefault} unless set. A longer one fails the step.`,
});

const forEachWords =
  'Executes the agent once for each item of a list, which is `{{item}}`, its place `{{index}}`. The output is the list of outputs.';

const fallbackAgent = reference('agent', 'The agent that takes over.');
const fallbackWords =
  'What takes the place of an execution that failed: another agent, or a fixed `output`.';

const onFailure = oneOf(
  ['fail', 'continue'],
  'What becomes of the run where the step fails for good; `fail` unless set.',
);

const timeoutMs = Type.Integer({
  minimum: core.runTimeoutMsMin,
  maximum: core.runTimeoutMsMax,
  description: `From the start of a run to its end; ${core.runTimeoutMsDefault} unless set.`,
});

const outputWords =
  "What a run answers: any JSON, texts may hold references. `null`: the output of the step that nobody waits for; of several, an object with each one's output by its name.";

const stepName = name('Unique in the workflow; what others refer to.');
const stepAgent = reference('agent', 'The agent that it executes.');

/** What all steps can have, whichever way they name their agents. */
const stepInput = {
  name: stepName,
  variables: Type.Optional(variables),
  after: Type.Optional(after),
  when: Type.Optional(nullable(when)),
  forEach: Type.Optional(
    nullable(
      Type.Object(
        { list, concurrency: Type.Optional(concurrency), max: Type.Optional(max) },
        { additionalProperties: false },
      ),
      forEachWords,
    ),
  ),
  onFailure: Type.Optional(onFailure),
};

const fallbackInput = {
  variables: Type.Optional(variables),
  output: Type.Optional(anyJson('Any JSON; texts may hold references.')),
};

const closed = { additionalProperties: false } as const;

const workflowInput = {
  input: Type.Optional(
    Type.Object(
      {
        required: Type.Optional(input.required),
        optional: Type.Optional(input.optional),
        defaults: Type.Optional(input.defaults),
      },
      { ...closed, description: 'What a run is given. What is not named here is ignored.' },
    ),
  ),
  timeoutMs: Type.Optional(timeoutMs),
  output: Type.Optional(anyJson(outputWords)),
};

const stepBounds = {
  minItems: 1,
  maxItems: core.stepsMax,
  description: `In any order. Their values and the output hold at most ${core.referencesMax} references together.`,
};

export const WorkflowDefinitionInput = Type.Object(
  {
    ...workflowInput,
    steps: Type.Array(
      Type.Object(
        {
          ...stepInput,
          agentId: stepAgent,
          fallback: Type.Optional(
            nullable(
              Type.Object({ agentId: Type.Optional(fallbackAgent), ...fallbackInput }, closed),
              fallbackWords,
            ),
          ),
        },
        closed,
      ),
      stepBounds,
    ),
  },
  { title: 'WorkflowDefinitionInput', ...closed },
);
export type WorkflowDefinitionInput = Static<typeof WorkflowDefinitionInput>;

/** The same with agents by their names, as a file declares it. */
export const declaredDefinition = {
  ...workflowInput,
  steps: Type.Array(
    Type.Object(
      {
        ...stepInput,
        agent: text(limits.nameMax, 'The name of the agent that it executes.'),
        fallback: Type.Optional(
          nullable(
            Type.Object(
              {
                agent: Type.Optional(
                  text(limits.nameMax, 'The name of the agent that takes over.'),
                ),
                ...fallbackInput,
              },
              closed,
            ),
            fallbackWords,
          ),
        ),
      },
      closed,
    ),
    stepBounds,
  ),
};

/** As it is stored and shown: everything that may be left out filled in. */
export const WorkflowDefinition = Type.Object(
  {
    input: Type.Object(input),
    timeoutMs,
    steps: Type.Array(
      Type.Object({
        name: stepName,
        agentId: stepAgent,
        variables,
        after,
        when: nullable(when),
        forEach: nullable(Type.Object({ list, concurrency, max }), forEachWords),
        fallback: nullable(
          Type.Object({
            agentId: Type.Optional(fallbackAgent),
            variables: Type.Optional(variables),
            output: Type.Optional(anyJson('Any JSON.')),
          }),
          fallbackWords,
        ),
        onFailure,
      }),
    ),
    output: anyJson(outputWords),
  },
  { title: 'WorkflowDefinition' },
);
export type WorkflowDefinition = Static<typeof WorkflowDefinition>;
