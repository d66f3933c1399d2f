import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import {
  type AgentForm,
  blankForm,
  defaultProblem,
  inputOf,
  withVariables,
} from '../../data/agent-form.ts';
import { useCreateAgent } from '../../data/agents.ts';
import { may, useMe } from '../../data/me.ts';
import { versionQuery } from '../../data/prompts.ts';
import { AboutFields } from '../../parts/about-fields.tsx';
import { Card } from '../../parts/card.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FormProblem } from '../../parts/form-problem.tsx';
import { LimitFields } from '../../parts/limit-fields.tsx';
import { ModelFields } from '../../parts/model-fields.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { VariablesFields } from '../../parts/variables-fields.tsx';
import classes from './new-agent.module.css';
import { VersionChoice } from './version-choice.tsx';

const route = getRouteApi('/app/agents/new');

/** Everything that an agent is made of, in one page; what was chosen before is filled in. */
export function NewAgentPage() {
  const { promptId, promptVersionId } = route.useSearch();
  const navigate = route.useNavigate();
  const mayEdit = may(useMe(), 'edit');
  const version = useQuery({
    ...versionQuery(promptId ?? '', promptVersionId ?? ''),
    enabled: promptId !== undefined && promptVersionId !== undefined,
  }).data;
  const [form, setForm] = useState<AgentForm>(blankForm);
  const create = useCreateAgent();
  const change = (change: Partial<AgentForm>) => setForm({ ...form, ...change });
  // Of another version, what only the one before needed is not asked for.
  const needed = version?.variables ?? [];
  const variables = withVariables(
    form.variables.filter(({ name, kind }) => kind !== 'required' || needed.includes(name)),
    needed,
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!promptId || !promptVersionId || variables.some(defaultProblem)) return;
    const onSuccess = ({ agentId }: { agentId: string }) =>
      void navigate({ to: '/agents/$agentId', params: { agentId } });
    const input = { ...inputOf({ ...form, variables }), promptId, promptVersionId };
    create.mutate(input, { onSuccess });
  };
  const header = (
    <PageHeader
      parent={{ label: 'Agents', to: '/agents' }}
      title="New agent"
      description="It begins as a Draft with its API off. All of it can be changed later, but for the prompt."
    />
  );
  if (!mayEdit) {
    return (
      <>
        {header}
        <EmptyState icon="lock" title="Making agents takes an editor">
          Ask an owner of the workspace for that role.
        </EmptyState>
      </>
    );
  }
  return (
    <>
      {header}
      <form className={classes.form} onSubmit={submit}>
        <Card title="Prompt">
          <VersionChoice
            promptId={promptId}
            promptVersionId={promptVersionId}
            onChoose={(search) => void navigate({ search, replace: true, resetScroll: false })}
          />
        </Card>
        <Card title="About">
          <AboutFields form={form} onChange={change} error={create.error} />
        </Card>
        <Card title="Model">
          <ModelFields
            value={form.model}
            behind={version}
            onChange={(settings) => change({ model: { ...form.model, ...settings } })}
            error={create.error}
            prefix="agentConfig."
          />
        </Card>
        <Card title="Variables">
          <VariablesFields
            variables={variables}
            needed={needed}
            onChange={(changed) => change({ variables: changed })}
          />
        </Card>
        <Card title="Limits">
          <LimitFields form={form} onChange={change} error={create.error} />
        </Card>
        <FormProblem error={create.error} />
        <div>
          <Button type="submit" loading={create.isPending} disabled={!version}>
            Create the agent
          </Button>
        </div>
      </form>
    </>
  );
}
