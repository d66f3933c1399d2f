import { Button, Group } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useEffect } from 'react';
import { CallFields } from '../../components/fields/call-fields.tsx';
import { FallbackField } from '../../components/fields/fallback-field.tsx';
import { GeneralFields } from '../../components/fields/general-fields.tsx';
import { LimitFields } from '../../components/fields/limit-fields.tsx';
import { ModelFields } from '../../components/fields/model-fields.tsx';
import { VariablesFields } from '../../components/fields/variables-fields.tsx';
import { useNavigateFrom } from '../../components/hooks/use-navigate-from.ts';
import { Card } from '../../components/layout/card.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { FormError, fieldError } from '../../components/states/form-error.tsx';
import { useCreateAgent } from '../../data/agents/agent-actions.ts';
import {
  type AgentForm,
  blankForm,
  defaultValueError,
  toAgentInput,
  withVariables,
} from '../../data/agents/agent-form.ts';
import { callFormProblem } from '../../data/agents/call-form.ts';
import { promptQuery, versionQuery } from '../../data/prompts/prompts.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import classes from './new-agent.module.css';
import type { NewAgentSearch } from './route.ts';
import { VersionChoice } from './version-choice.tsx';

const route = getRouteApi('/app/agents/new');

/** Unsaved input. */
interface Draft {
  readonly form: AgentForm;
  readonly prompt: NewAgentSearch;
}

const blankDraft: Draft = { form: blankForm, prompt: {} };

/** All settings of a new agent on one page. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one form: its fields and their state read best together
export function NewAgentPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const me = useMe();
  const canEdit = can(me, 'edit');
  // Kept until the agent is created, across pages.
  const [draft, store, discard] = useSessionStorage<Draft>({
    key: `cueline-new-agent-${me.workspaceId}`,
    defaultValue: blankDraft,
    getInitialValueInEffect: false,
  });
  // A draft of an earlier version of this page lacks the fields that were added since.
  const form = { ...blankForm, ...draft.form };
  const { promptId, promptVersionId } = search;
  // The selected version is a search parameter; restore it when the user returns by a plain link.
  useEffect(() => {
    if (promptId !== undefined) store({ ...draft, prompt: search });
    else if (draft.prompt.promptId) void navigate({ search: draft.prompt, replace: true });
  }, [promptId, promptVersionId]);
  const version = useQuery({
    ...versionQuery(promptId ?? '', promptVersionId ?? ''),
    enabled: promptId !== undefined && promptVersionId !== undefined,
  }).data;
  const prompt = useQuery({ ...promptQuery(promptId ?? ''), enabled: promptId !== undefined }).data;
  // Most agents are named after their prompt. Only a new choice of the prompt fills the name in, so that it can be cleared.
  useEffect(() => {
    if (prompt && form.agentName === '') change({ agentName: prompt.name });
  }, [prompt?.promptId]);
  const navigateFrom = useNavigateFrom('/agents/new');
  const create = useCreateAgent(({ agentId }) => {
    const search = { start: true } as const;
    void navigateFrom({ to: '/agents/$agentId/use', params: { agentId }, search }).then(discard);
  });
  const change = (change: Partial<AgentForm>) => store({ ...draft, form: { ...form, ...change } });
  const choose = (prompt: NewAgentSearch) => {
    if (prompt.promptId === undefined) store({ ...draft, prompt });
    void navigate({ search: prompt, replace: true, resetScroll: false });
  };
  const discardDraft = () => {
    choose({});
    store(blankDraft);
  };
  const hasInput = JSON.stringify(draft) !== JSON.stringify(blankDraft);
  // Drop required variables that only the previously selected version used.
  const needed = version?.variables ?? [];
  const variables = withVariables(
    form.variables.filter(({ name, kind }) => kind !== 'required' || needed.includes(name)),
    needed,
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!promptId || !promptVersionId || variables.some(defaultValueError)) return;
    if (callFormProblem(form.call) !== null) return;
    create.mutate({ ...toAgentInput({ ...form, variables }), promptId, promptVersionId });
  };
  const header = (
    <PageHeader
      parent={{ label: 'Agents', to: '/agents' }}
      title="New agent"
      description="A new agent starts as a Draft with its API disabled. You can change everything later except the prompt."
    />
  );
  if (!canEdit) {
    return (
      <>
        {header}
        <EmptyState icon="lock" title="Creating agents requires the editor role">
          Ask a workspace owner for this role.
        </EmptyState>
      </>
    );
  }
  return (
    <>
      {header}
      <form className={classes.form} onSubmit={submit}>
        <Card title="Prompt">
          <VersionChoice promptId={promptId} promptVersionId={promptVersionId} onChoose={choose} />
        </Card>
        <Card title="General">
          <GeneralFields form={form} onChange={change} error={create.error} />
        </Card>
        <Card title="Model">
          <ModelFields
            value={form.model}
            inherited={version}
            onChange={(settings) => change({ model: { ...form.model, ...settings } })}
            error={create.error}
            prefix="agentConfig."
          />
          <FallbackField form={form} onChange={change} error={create.error} />
          <CallFields form={form} onChange={change} error={create.error} />
        </Card>
        <Card title="Variables">
          <VariablesFields
            variables={variables}
            requiredByVersion={needed}
            onChange={(changed) => change({ variables: changed })}
          />
        </Card>
        <Card title="Limits">
          <LimitFields form={form} onChange={change} error={create.error} />
        </Card>
        <FormError
          error={create.error}
          message={fieldError(create.error, 'agentConfig.model') && 'Select a model above.'}
        />
        <Group gap="xs">
          <Button type="submit" loading={create.isPending} disabled={!version}>
            Create agent
          </Button>
          {hasInput && (
            <Button variant="default" disabled={create.isPending} onClick={discardDraft}>
              Discard draft
            </Button>
          )}
        </Group>
      </form>
    </>
  );
}
