import { type Static, Type } from 'typebox';
import { stages, visibilities } from '../../core/agent/agent.ts';
import { toolServerKinds } from '../../core/tools/tool-server.ts';
import * as limits from '../../http/contract/contract-limits.ts';
import { endpoint } from '../../http/contract/operation.ts';
import { problems, WorkflowProblems } from '../../http/contract/problem.ts';
import {
  body,
  name,
  nullable,
  oneOf,
  optional,
  RateLimitsInput,
  slug,
  text,
} from '../../http/contract/shared.ts';
import { AgentConfig, AgentInput } from '../agents/contract/agent-record.ts';
import { BudgetInput } from '../budgets/contract/budgets-contract.ts';
import { scopeMax } from '../budgets/rules/budget-settings.ts';
import { PlaceholderWarnings, versionInput } from '../prompts/contract/prompts-contract.ts';
import { toolServerFields, toolServerName } from '../tools/contract/tool-servers-contract.ts';
import { declaredDefinition } from '../workflows/contract/workflow-definition.ts';

/**
 * Declarations: tool servers, prompts, agents, budgets and workflows as code. A declaration refers to resources by name
 * and contains no secret but headers of tool servers, which are never returned.
 */

const tag = 'Declaration';
const kinds = ['toolServer', 'prompt', 'agent', 'budget', 'workflow'] as const;
const description = Type.Optional(nullable(text(limits.descriptionMax)));
const closed = { additionalProperties: false } as const;

const DeclaredVersion = Type.Object(
  {
    label: name(
      'Unique within its prompt. Versions are immutable: use a new label for a new text.',
      limits.labelMax,
    ),
    ...versionInput,
  },
  { title: 'DeclaredVersion', ...closed },
);

const DeclaredPrompt = Type.Object(
  {
    name: name('Name that agents refer to.'),
    description,
    visibility: Type.Optional(
      oneOf(visibilities, 'A new prompt is `private` by default. If omitted, it does not change.'),
    ),
    versions: Type.Array(DeclaredVersion, {
      maxItems: limits.declaredVersionsMax,
      description: 'Versions that must exist. Other versions are not changed.',
    }),
  },
  { title: 'DeclaredPrompt', ...closed },
);

const agent = AgentInput.properties;
const declaredSlug = Type.String({
  ...slug,
  description:
    'Name for other programs, unique within the workspace. If omitted, a new resource gets one derived from its name, and an existing one keeps its own.',
});

const Expectation = Type.Object(
  {
    equals: Type.Optional(
      Type.Unsafe<unknown>({
        description: 'A text is the whole `outputText`; any other JSON equals the output as JSON.',
      }),
    ),
    contains: Type.Optional(
      Type.String({ minLength: 1, description: 'A part of `outputText`, in the same case.' }),
    ),
    matchesSchema: Type.Optional(
      Type.Unsafe<Record<string, unknown> | boolean>({
        type: ['object', 'boolean'],
        description: 'A JSON schema that the output as JSON matches.',
      }),
    ),
    cel: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.conditionMax,
        description: 'A CEL expression over `record`, the record of the execution, that is true.',
      }),
    ),
  },
  {
    title: 'DeclaredExpectation',
    ...closed,
    description: 'All of it must hold. Without a field, the execution must only succeed.',
  },
);

const DeclaredExample = Type.Object(
  {
    name: Type.Optional(name('Shown in reports. Default: its position.')),
    variables: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'The variables of the call, each any JSON.',
    }),
    expect: Expectation,
  },
  { title: 'DeclaredExample', ...closed },
);

const examples = Type.Array(DeclaredExample, {
  maxItems: limits.declaredMax,
  description:
    'What `cueline test` executes. They belong to the file: the server checks their form and stores nothing of them.',
});
/** The field of an agent. */
export const DeclaredExamples = Type.Object({ examples });

const DeclaredAgent = Type.Object(
  {
    name: name('Name that workflows refer to.'),
    slug: Type.Optional(declaredSlug),
    aliases: agent.aliases,
    prompt: name("Name of the agent's prompt."),
    version: name('Label of the prompt version to pin.', limits.labelMax),
    stage: Type.Optional(
      oneOf(stages, 'Lifecycle stage to reach. If omitted, the stage does not change.'),
    ),
    description,
    agentConfig: Type.Optional(AgentConfig),
    requiredVariables: agent.requiredVariables,
    optionalVariables: agent.optionalVariables,
    defaultVariableValues: agent.defaultVariableValues,
    visibility: Type.Optional(oneOf(visibilities, 'Default: `private`.')),
    rateLimits: Type.Optional(RateLimitsInput),
    project: agent.project,
    category: agent.category,
    tags: agent.tags,
    allowedOrigins: agent.allowedOrigins,
    storeBodies: Type.Optional(
      Type.Boolean({
        description:
          'Whether bodies (variables, prompts, output) are stored. Default: `true`. Only an owner may turn it back on.',
      }),
    ),
    allowInstructions: agent.allowInstructions,
    allowTools: agent.allowTools,
    versionAliases: agent.versionAliases,
    apiEnabled: Type.Optional(
      Type.Boolean({
        description:
          'Whether the agent accepts calls with an API key in Testing and Deployed. Default: `true`. Other stages accept none.',
      }),
    ),
    examples: Type.Optional(examples),
  },
  { title: 'DeclaredAgent', ...closed },
);

const DeclaredWorkflow = Type.Object(
  {
    name: name('Unique within the workspace.'),
    slug: Type.Optional(declaredSlug),
    description,
    enabled: Type.Optional(Type.Boolean({ description: 'Default: `true`.' })),
    ...declaredDefinition,
  },
  { title: 'DeclaredWorkflow', ...closed },
);

const budget = BudgetInput.properties;

const DeclaredBudget = Type.Object(
  {
    name: name('Unique within the workspace.'),
    scope: Type.Optional(
      Type.Object(
        {
          agents: Type.Optional(
            Type.Array(name('Name of an agent.'), {
              ...{ minItems: 1, maxItems: scopeMax, uniqueItems: true },
              description: 'Only calls of these agents.',
            }),
          ),
          tags: budget.scope.properties.tags,
        },
        { ...closed, description: 'The calls that it counts. Default: all calls.' },
      ),
    ),
    ...{ per: budget.per, period: budget.period, limitUSD: budget.limitUSD },
    ...{ maxTokens: budget.maxTokens, thresholds: budget.thresholds },
    ...{ onUnknown: budget.onUnknown, enabled: budget.enabled },
  },
  { title: 'DeclaredBudget', ...closed },
);

const listOf = <S extends Parameters<typeof Type.Array>[0]>(item: S, description: string) =>
  Type.Optional(Type.Array(item, { maxItems: limits.declaredMax, description }));

const DeclaredToolServer = Type.Object(
  {
    name: toolServerName,
    kind: oneOf(toolServerKinds, 'Only `http` is supported yet.'),
    ...optional(toolServerFields),
    headers: Type.Optional({
      ...toolServerFields.headers,
      description:
        'Stored encrypted and never returned; if omitted, they do not change. In a file, they name variables of the environment of `cueline apply`: a dollar sign and the name in braces.',
    }),
    enabled: Type.Optional(Type.Boolean({ description: 'Default: `true`.' })),
  },
  { title: 'DeclaredToolServer', ...closed },
);

export const Declaration = Type.Object(
  {
    toolServers: listOf(
      DeclaredToolServer,
      'Servers of tools, for owners and keys with `own`. Their signing secrets are not part of it: rotate one to get it.',
    ),
    prompts: listOf(DeclaredPrompt, 'Prompts and their versions.'),
    agents: listOf(DeclaredAgent, 'Agents. An omitted field gets its default, except `stage`.'),
    budgets: listOf(
      DeclaredBudget,
      'Budgets. An omitted field gets its default; `per` and `period` cannot change. They need the permission `own`.',
    ),
    workflows: listOf(
      DeclaredWorkflow,
      'Workflows. A changed definition becomes a new version, which is pinned. Its agents must accept calls, unless this declaration gives them another stage than `Deployed` or `apiEnabled: false`.',
    ),
  },
  {
    title: 'Declaration',
    ...closed,
    description:
      'Resources that the declaration does not name are not changed. Nothing is ever deleted.',
  },
);
export type Declaration = Static<typeof Declaration>;

export const DeclarationChange = Type.Object(
  {
    kind: oneOf(kinds, 'Kind of resource.'),
    name: Type.String({ description: 'Name of the resource.' }),
    action: oneOf(['create', 'change', 'add-version', 'pin', 'move'], 'Action to apply.'),
    field: Type.Optional(Type.String({ description: 'Changed field.' })),
    from: Type.Optional(Type.Unsafe<unknown>({ description: 'Previous value. Any JSON.' })),
    to: Type.Optional(Type.Unsafe<unknown>({ description: 'New value. Any JSON.' })),
    warnings: Type.Optional(PlaceholderWarnings),
  },
  { title: 'DeclarationChange' },
);
export type DeclarationChange = Static<typeof DeclarationChange>;

const Omitted = Type.Object(
  {
    kind: oneOf(kinds, 'Kind of resource.'),
    name: Type.String({
      description: 'Name of the resource. Listed once if several resources share it.',
    }),
    reason: Type.String({ description: 'Reason, as a sentence.' }),
  },
  { title: 'DeclarationOmitted' },
);

export const getDeclaration = endpoint({
  id: 'getDeclaration',
  method: 'GET',
  path: '/api/v1/declaration',
  summary: 'Export the workspace as a declaration',
  description:
    'Contains the agents that the caller can see, except archived ones; the prompts, each with its newest version and the versions that agents pin; and the workflows; for callers with `own` also the budgets, but for those that count only some API keys. Prompts and agents that share a name are omitted, together with the resources that refer to them, and so are workflows that could not be created again. Applying the declaration to the same workspace changes nothing.',
  tag,
  auth: 'manage',
  orPermission: 'read',
  session: 'read',
  responses: {
    200: Type.Object(
      {
        declaration: Declaration,
        omitted: Type.Array(Omitted, {
          description:
            'Resources omitted because their name is ambiguous, the resources that refer to them, and workflows that could not be created again.',
        }),
      },
      { title: 'DeclarationRead' },
    ),
  },
});

export const applyDeclaration = endpoint({
  id: 'applyDeclaration',
  method: 'POST',
  path: '/api/v1/declaration',
  summary: 'Apply a declaration',
  description:
    'Applies everything in one transaction, or nothing. With `dryRun`, the response lists the changes; nothing is written and no locks are taken, and `read` suffices. Applying the same declaration twice changes nothing. Returns 409 for a name that several prompts or agents share, a label whose version has other content, and an agent that would change its prompt.',
  tag,
  auth: 'manage',
  // Of a dry run: the route requires `manage` for everything else.
  orPermission: 'read',
  body: body('DeclarationInput', {
    declaration: Declaration,
    dryRun: Type.Optional(Type.Boolean({ default: false })),
  }),
  responses: {
    200: Type.Object(
      {
        applied: Type.Boolean({ description: '`false` for a dry run.' }),
        changes: Type.Array(DeclarationChange),
      },
      { title: 'DeclarationChanges' },
    ),
    400: WorkflowProblems,
    ...problems(404, 409),
  },
});
