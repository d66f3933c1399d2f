import { type Static, Type } from 'typebox';
import { stages, visibilities } from '../../core/agent/agent.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { problems, WorkflowProblems } from '../problem.ts';
import { body, name, nullable, oneOf, RateLimitsInput, text } from '../shared.ts';
import { declaredDefinition } from '../workflows/workflow-definition.ts';
import { AgentConfig, AgentInput } from './agent-record.ts';
import { versionInput } from './prompts.ts';

/** Prompts, agents and workflows as a file declares them: by their names, and never with a secret. */

const tag = 'Declaration';
const kinds = ['prompt', 'agent', 'workflow'] as const;
const description = Type.Optional(nullable(text(limits.descriptionMax)));
const closed = { additionalProperties: false } as const;

const DeclaredVersion = Type.Object(
  {
    label: name(
      'Unique in its prompt. A version never changes: another text needs another label.',
      limits.labelMax,
    ),
    ...versionInput,
  },
  { title: 'DeclaredVersion', ...closed },
);

const DeclaredPrompt = Type.Object(
  {
    name: name('What agents refer to it by.'),
    description,
    versions: Type.Array(DeclaredVersion, {
      maxItems: limits.declaredVersionsMax,
      description: 'Those that must be there; others are left alone.',
    }),
  },
  { title: 'DeclaredPrompt', ...closed },
);

const agent = AgentInput.properties;

const DeclaredAgent = Type.Object(
  {
    name: name('What workflows refer to it by.'),
    prompt: name('The name of the prompt that it is built from.'),
    version: name('The label of the version that it pins.', limits.labelMax),
    stage: Type.Optional(
      oneOf(stages, 'Where it is taken through its lifecycle; left as it is unless set.'),
    ),
    description,
    agentConfig: Type.Optional(AgentConfig),
    requiredVariables: agent.requiredVariables,
    optionalVariables: agent.optionalVariables,
    defaultVariableValues: agent.defaultVariableValues,
    visibility: Type.Optional(oneOf(visibilities, '`private` unless set.')),
    rateLimits: Type.Optional(RateLimitsInput),
    project: agent.project,
    category: agent.category,
    tags: agent.tags,
    allowedOrigins: agent.allowedOrigins,
    storeBodies: Type.Optional(
      Type.Boolean({
        description:
          'Whether bodies (variables, prompts, output) are kept; `true` unless set. Only an owner may switch it back on.',
      }),
    ),
    apiEnabled: Type.Optional(
      Type.Boolean({
        description:
          'Whether calls with a key are let in while it is Testing or Deployed; `true` unless set. In other stages none are.',
      }),
    ),
  },
  { title: 'DeclaredAgent', ...closed },
);

const DeclaredWorkflow = Type.Object(
  {
    name: name('Unique in the workspace.'),
    description,
    enabled: Type.Optional(Type.Boolean({ description: '`true` unless set.' })),
    ...declaredDefinition,
  },
  { title: 'DeclaredWorkflow', ...closed },
);

const some = <S extends Parameters<typeof Type.Array>[0]>(row: S, what: string) =>
  Type.Optional(Type.Array(row, { maxItems: limits.declaredMax, description: what }));

export const Declaration = Type.Object(
  {
    prompts: some(DeclaredPrompt, 'Prompts and versions of them.'),
    agents: some(DeclaredAgent, 'What is left out of one has its default, but for the stage.'),
    workflows: some(DeclaredWorkflow, 'Another definition becomes a new version, which is pinned.'),
  },
  {
    title: 'Declaration',
    ...closed,
    description: 'What is not named here is left alone; nothing is ever deleted.',
  },
);
export type Declaration = Static<typeof Declaration>;

export const DeclarationChange = Type.Object(
  {
    kind: oneOf(kinds, 'Of what.'),
    name: Type.String({ description: 'Its name.' }),
    action: oneOf(['create', 'change', 'add-version', 'pin', 'move'], 'What is done to it.'),
    field: Type.Optional(Type.String({ description: 'What is changed.' })),
    from: Type.Optional(Type.Unsafe<unknown>({ description: 'What it was; any JSON.' })),
    to: Type.Optional(Type.Unsafe<unknown>({ description: 'What it is then; any JSON.' })),
  },
  { title: 'DeclarationChange' },
);
export type DeclarationChange = Static<typeof DeclarationChange>;

const Omitted = Type.Object(
  {
    kind: oneOf(kinds, 'Of what.'),
    name: Type.String({ description: 'Its name, once where several have it.' }),
    reason: Type.String({ description: 'Why, as a sentence.' }),
  },
  { title: 'DeclarationOmitted' },
);

export const getDeclaration = endpoint({
  id: 'getDeclaration',
  method: 'GET',
  path: '/api/v1/declaration',
  summary: 'Read what is there as a declaration',
  description:
    'All agents that the caller sees, but for archived ones; the prompts, of each the versions that agents pin and the newest; the workflows. Names that several prompts or agents have are left out, with what refers to them. Applied where it was read, it changes nothing.',
  tag,
  auth: 'manage',
  session: 'read',
  answers: {
    200: Type.Object(
      {
        declaration: Declaration,
        omitted: Type.Array(Omitted, {
          description:
            'What is left out since a name alone does not tell it, and what refers to that.',
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
    'All of it in one transaction, or nothing. With `dryRun` the answer is what would be done; nothing is written, and nobody waits for it. Applying the same twice changes nothing.',
  tag,
  auth: 'manage',
  body: body('DeclarationInput', {
    declaration: Declaration,
    dryRun: Type.Optional(Type.Boolean({ default: false })),
  }),
  answers: {
    200: Type.Object(
      {
        applied: Type.Boolean({ description: 'False for a dry run.' }),
        changes: Type.Array(DeclarationChange),
      },
      { title: 'DeclarationChanges' },
    ),
    400: WorkflowProblems,
    ...problems(404, 409),
  },
});
