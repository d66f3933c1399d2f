import type { Declaration } from '../../../src/client/index.ts';

/** The documented examples as templates: each with the prompts and agents that its workflow executes. */

export interface Template {
  readonly title: string;
  readonly about: string;
  readonly prompts: readonly TemplatePrompt[];
  readonly agents: readonly TemplateAgent[];
  readonly workflow: TemplateWorkflow;
}

export type TemplatePrompt = NonNullable<Declaration['prompts']>[number];
export type TemplateAgent = NonNullable<Declaration['agents']>[number];
type TemplateWorkflow = NonNullable<Declaration['workflows']>[number];

const deployed = { version: 'v1', stage: 'Deployed', visibility: 'public' } as const;

const triageAndReply: Template = {
  title: 'Triage and reply',
  about: 'One agent classifies a ticket as JSON, the next one replies unless it is spam.',
  prompts: [
    {
      name: 'Triage',
      versions: [
        {
          label: 'v1',
          system:
            'Sort the ticket. Answer JSON only: {"kind": "billing" | "question" | "spam", "summary": text}',
          user: '{{ticket}}',
          model: 'openai/gpt-5.5-mini',
        },
      ],
    },
    {
      name: 'Reply',
      versions: [
        {
          label: 'v1',
          user: 'Write a {{tone}} reply to a customer. It is about: {{kind}}.\n{{summary}}',
          model: 'anthropic/claude-opus-5',
        },
      ],
    },
  ],
  agents: [
    { name: 'Triage', prompt: 'Triage', ...deployed },
    { name: 'Reply', prompt: 'Reply', ...deployed },
  ],
  workflow: {
    name: 'triage-and-reply',
    input: { required: ['ticket'], defaults: { tone: 'kind' } },
    steps: [
      { name: 'triage', agent: 'Triage', variables: { ticket: '{{input.ticket}}' } },
      {
        name: 'reply',
        agent: 'Reply',
        when: "steps.triage.output.kind != 'spam'",
        variables: {
          tone: '{{input.tone}}',
          kind: '{{steps.triage.output.kind}}',
          summary: '{{steps.triage.output.summary}}',
        },
        fallback: { output: 'Thank you, we will come back to you.' },
      },
    ],
    output: { kind: '{{steps.triage.output.kind}}', reply: '{{steps.reply.output}}' },
  },
};

const nightlyReport: Template = {
  title: 'A nightly report over a list',
  about: 'Summarizes each item of a list in parallel, then writes one report.',
  prompts: [
    {
      name: 'Customer summary',
      versions: [
        {
          label: 'v1',
          user: 'What happened at {{name}} since yesterday? Events: {{events}}',
          model: 'openai/gpt-5.5-mini',
        },
      ],
    },
    {
      name: 'Report',
      versions: [
        {
          label: 'v1',
          user: 'Write a report of one page from these {{count}} summaries, the most urgent first:\n{{summaries}}',
          model: 'openai/gpt-5.5',
        },
      ],
    },
  ],
  agents: [
    { name: 'Customer summary', prompt: 'Customer summary', ...deployed },
    { name: 'Report', prompt: 'Report', ...deployed },
  ],
  workflow: {
    name: 'nightly-report',
    input: { required: ['customers', 'count'] },
    timeoutMs: 7_200_000,
    steps: [
      {
        name: 'summaries',
        agent: 'Customer summary',
        forEach: { list: '{{input.customers}}', concurrency: 3, max: 500 },
        variables: { name: '{{item.name}}', events: '{{item.events}}' },
        onFailure: 'continue',
      },
      {
        name: 'report',
        agent: 'Report',
        variables: { count: '{{input.count}}', summaries: '{{steps.summaries.output}}' },
      },
    ],
  },
};

const twoModelsWithAJudge: Template = {
  title: 'Two models with a judge',
  about: 'Two agents answer in parallel, a third one judges.',
  prompts: [
    { name: 'Answer', versions: [{ label: 'v1', user: '{{question}}', model: 'openai/gpt-5.5' }] },
    {
      name: 'Judge',
      versions: [
        {
          label: 'v1',
          user: '{{question}}\nA: {{a}}\nB: {{b}}\nWhich answer is better? Answer JSON only: {"best": "A" | "B", "why": text}',
          model: 'google/gemini-3-pro',
        },
      ],
    },
  ],
  agents: [
    { name: 'Answer A', prompt: 'Answer', ...deployed },
    {
      name: 'Answer B',
      prompt: 'Answer',
      ...deployed,
      agentConfig: { model: 'anthropic/claude-opus-5' },
    },
    { name: 'Judge', prompt: 'Judge', ...deployed, optionalVariables: ['a', 'b'] },
  ],
  workflow: {
    name: 'two-models-with-a-judge',
    input: { required: ['question'] },
    steps: [
      {
        name: 'a',
        agent: 'Answer A',
        variables: { question: '{{input.question}}' },
        onFailure: 'continue',
      },
      {
        name: 'b',
        agent: 'Answer B',
        variables: { question: '{{input.question}}' },
        onFailure: 'continue',
      },
      {
        name: 'judge',
        agent: 'Judge',
        variables: {
          question: '{{input.question}}',
          a: '{{steps.a.output}}',
          b: '{{steps.b.output}}',
        },
        fallback: { output: { best: null, why: 'The judge gave no verdict.' } },
      },
    ],
    output: {
      best: '{{steps.judge.output.best}}',
      why: '{{steps.judge.output.why}}',
      answers: { A: '{{steps.a.output}}', B: '{{steps.b.output}}' },
    },
  },
};

export const templates: readonly Template[] = [triageAndReply, nightlyReport, twoModelsWithAJudge];

/** The definition of a template, with agents by name. */
export function templateDefinition({ workflow }: Template): unknown {
  const { input, timeoutMs, steps, output } = workflow;
  return { input, timeoutMs, steps, output };
}

/** The model of each agent of a template. */
export function modelsOf(template: Template): Record<string, string> {
  return Object.fromEntries(
    template.agents.map((agent) => [agent.name, modelOf(template, agent)] as const),
  );
}

function modelOf({ prompts }: Template, { prompt, agentConfig }: TemplateAgent): string {
  const [version] = prompts.find(({ name }) => name === prompt)?.versions ?? [];
  return agentConfig?.model ?? version?.model ?? '';
}

/**
 * A declaration of some agents of a template and their prompts, with a model for each. A version never changes, so one
 * with another model than documented has another label.
 */
export function declareAgents(
  template: Template,
  models: Readonly<Record<string, string>>,
): Declaration {
  const agents = template.agents.filter(({ name }) => models[name] !== undefined);
  const used = new Set(agents.map(({ prompt }) => prompt));
  const labels = new Map<string, { readonly label: string; readonly model: string }>();
  const prompts = template.prompts
    .filter(({ name }) => used.has(name))
    .map((prompt) => {
      const [version] = prompt.versions;
      const first = agents.find((agent) => agent.prompt === prompt.name && !agent.agentConfig);
      const model = (first && models[first.name]) ?? version?.model ?? '';
      const label = model === version?.model ? 'v1' : labelOf(model);
      labels.set(prompt.name, { label, model });
      return { ...prompt, versions: prompt.versions.map((one) => ({ ...one, label, model })) };
    });
  return {
    prompts,
    agents: agents.map(({ agentConfig: _, ...agent }) => {
      const { label = 'v1', model } = labels.get(agent.prompt) ?? {};
      const own = models[agent.name];
      return { ...agent, version: label, ...(own !== model && { agentConfig: { model: own } }) };
    }),
  };
}

const labelOf = (model: string) => model.slice(0, 100);
