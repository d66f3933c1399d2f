import { type Static, Type } from 'typebox';
import * as core from '../../../core/workflow/definition.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { isStoredAsSent, nullable, oneOf, reference, text } from '../../../http/contract/shared.ts';

/**
 * Shape of a workflow definition in requests and responses. The core checks the relations between
 * its parts.
 */

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
  required: inputNames(
    'Inputs that every workflow run must supply. Defaults do not apply to them.',
  ),
  optional: inputNames('Inputs that a workflow run may supply.'),
  defaults: record('Default values by input name.'),
};

const variables = record(
  'Values by variable name of the agent, any JSON. Strings may contain references such as `{{input.ticket}}` and `{{steps.triage.output.kind}}`.',
);

const after = Type.Array(Type.String(), {
  maxItems: core.stepsMax,
  uniqueItems: true,
  description: 'Steps to wait for, in addition to those that it references.',
});

const when = Type.String({
  minLength: 1,
  maxLength: limits.conditionMax,
  description: 'CEL expression over `input` and `steps`. Unless it is true, the step is skipped.',
  examples: ["steps.triage.output.kind == 'billing'"],
});

const list = anyJson('A list, or a reference to one.');
const concurrency = Type.Integer({
  minimum: 1,
  maximum: core.forEachConcurrencyMax,
  description: `Items processed at once. Default: ${core.forEachConcurrencyDefault}.`,
});
const max = Type.Integer({
  minimum: 1,
  maximum: core.forEachMaxMax,
  description: `Maximum length of the list. Default: ${core.forEachMaxDefault}. A longer list fails the step.`,
});

const forEachDescription =
  'Executes the agent once per item of a list. `{{item}}` is the item, `{{index}}` its index. The output is the list of outputs.';

const fallbackAgent = reference('agent', 'The fallback agent.');
const fallbackDescription = 'Replaces a failed execution: another agent, or a fixed `output`.';

const onFailure = oneOf(
  ['fail', 'continue'],
  'What happens to the workflow run if the step finally fails. Default: `fail`.',
);

const onUnreadable = oneOf(
  ['fail', 'null'],
  'What a reference into the output gives if the text holds no JSON object or array, or several: it fails the step that needs it with `OUTPUT_NOT_JSON`, or it is null. Default: `fail`.',
);

const timeoutMs = Type.Integer({
  minimum: core.runTimeoutMsMin,
  maximum: core.runTimeoutMsMax,
  description: `Time limit from the start of a workflow run to its end. Default: ${core.runTimeoutMsDefault}.`,
});

const outputDescription =
  'Output of a workflow run: any JSON, strings may contain references. `null`: the output of the last step; if there are several last steps, an object with each output by step name.';

const stepName = name('Unique within the workflow. Other steps refer to it.');
const stepAgent = reference('agent', 'The executed agent.');

/** Fields of a step other than its agents, which are named by identifier or by name. */
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
      forEachDescription,
    ),
  ),
  onFailure: Type.Optional(onFailure),
  onUnreadable: Type.Optional(onUnreadable),
};

const fallbackInput = {
  variables: Type.Optional(variables),
  output: Type.Optional(anyJson('Any JSON. Strings may contain references.')),
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
      { ...closed, description: 'Inputs of the workflow. Other inputs are ignored.' },
    ),
  ),
  timeoutMs: Type.Optional(timeoutMs),
  output: Type.Optional(anyJson(outputDescription)),
};

const stepBounds = {
  minItems: 1,
  maxItems: core.stepsMax,
  description: `Steps in any order. Their values and the output contain at most ${core.referencesMax} references together.`,
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
              fallbackDescription,
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

/** The same definition with agents by name, as in a declaration. */
export const declaredDefinition = {
  ...workflowInput,
  steps: Type.Array(
    Type.Object(
      {
        ...stepInput,
        agent: text(limits.nameMax, 'Name of the executed agent.'),
        fallback: Type.Optional(
          nullable(
            Type.Object(
              {
                agent: Type.Optional(text(limits.nameMax, 'Name of the fallback agent.')),
                ...fallbackInput,
              },
              closed,
            ),
            fallbackDescription,
          ),
        ),
      },
      closed,
    ),
    stepBounds,
  ),
};

/** The definition as stored and returned, with all defaults filled in. */
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
        forEach: nullable(Type.Object({ list, concurrency, max }), forEachDescription),
        fallback: nullable(
          Type.Object({
            agentId: Type.Optional(fallbackAgent),
            variables: Type.Optional(variables),
            output: Type.Optional(anyJson('Any JSON.')),
          }),
          fallbackDescription,
        ),
        onFailure,
        onUnreadable,
      }),
    ),
    output: anyJson(outputDescription),
  },
  { title: 'WorkflowDefinition', [isStoredAsSent]: true },
);
export type WorkflowDefinition = Static<typeof WorkflowDefinition>;
