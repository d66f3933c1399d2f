import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { type Agent, CuelineError } from '../../../../src/client/index.ts';
import { CallFields } from '../../../components/fields/call-fields.tsx';
import { FallbackField } from '../../../components/fields/fallback-field.tsx';
import { GeneralFields } from '../../../components/fields/general-fields.tsx';
import { LimitFields } from '../../../components/fields/limit-fields.tsx';
import { ModelFields } from '../../../components/fields/model-fields.tsx';
import { StreamField } from '../../../components/fields/stream-field.tsx';
import { VariablesFields } from '../../../components/fields/variables-fields.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { useChangeAgent } from '../../../data/agents/agent-actions.ts';
import {
  type AgentForm,
  defaultValueError,
  formFromAgent,
  hasConflict,
  rebaseForm,
  toAgentPatch,
  withVariables,
} from '../../../data/agents/agent-form.ts';
import { callFormProblem } from '../../../data/agents/call-form.ts';
import { versionQuery } from '../../../data/prompts/prompts.ts';
import { can, useMe } from '../../../data/workspace/me.ts';
import { ApiFields } from './api-fields.tsx';
import { DangerCard } from './danger-card.tsx';
import classes from './settings.module.css';
import { StorageFields } from './storage-fields.tsx';

/** Unsaved changes. */
export interface SettingsDraft {
  /** The agent when editing began, and its ETag. */
  readonly base: AgentForm;
  readonly baseEtag: string | null;
  readonly form: AgentForm;
}

export function SettingsForm(props: {
  readonly agent: Agent;
  /** The ETag of `agent`: a save fails after a concurrent change. */
  readonly etag: string | null;
  /** From a previous visit. */
  readonly draft: SettingsDraft | null;
  readonly onStore: (draft: SettingsDraft) => void;
  readonly onDiscard: () => void;
  readonly onReload: () => void;
}) {
  const { agent, etag, draft, onStore, onDiscard, onReload } = props;
  const me = useMe();
  // A draft of an earlier version of this page lacks the fields that were added since.
  const [{ base, baseEtag }, setBase] = useState(() => ({
    base: { ...formFromAgent(agent), ...draft?.base },
    baseEtag: draft ? draft.baseEtag : etag,
  }));
  const [form, setForm] = useState<AgentForm>({ ...base, ...draft?.form });
  /** The form values being saved, or just saved. */
  const [sent, setSent] = useState<AgentForm | null>(null);
  const change = (change: Partial<AgentForm>) => setForm((form) => ({ ...form, ...change }));
  const save = useChangeAgent(agent.agentId);
  // If another user changed an edited field, the old ETag stays and the save fails with an explanation.
  if (baseEtag !== etag && (sent || !hasConflict(base, form, formFromAgent(agent)))) {
    // The agent was refetched, usually after a save: rebase the remaining edits.
    setBase({ base: formFromAgent(agent), baseEtag: etag });
    setForm(rebaseForm(sent ?? base, form, formFromAgent(agent)));
    setSent(null);
  }
  const version = useQuery(versionQuery(agent.promptId, agent.promptVersionId)).data;
  const patch = toAgentPatch(base, form);
  const changed = Object.keys(patch).length > 0;
  const isValid = !form.variables.some(defaultValueError) && callFormProblem(form.call) === null;
  const disabled = !can(me, 'edit');
  useEffect(() => {
    if (disabled) return;
    if (changed) onStore({ base, baseEtag, form });
    else onDiscard();
  }, [disabled, changed, base, baseEtag, form, onStore, onDiscard]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!changed || !isValid) return;
    setSent(form);
    save.mutate({ patch, etag: baseEtag }, { onError: () => setSent(null) });
  };
  const fields = { form, onChange: change, error: save.error, disabled };
  return (
    <>
      <form className={classes.form} onSubmit={submit}>
        <Card title="General">
          <GeneralFields {...fields} />
        </Card>
        <Card title="Variables">
          <VariablesFields
            variables={withVariables(form.variables, version?.variables ?? [])}
            requiredByVersion={version?.variables ?? []}
            onChange={(variables) => change({ variables })}
            disabled={disabled}
          />
        </Card>
        <Card title="Model">
          <ModelFields
            value={form.model}
            inherited={version}
            onChange={(settings) => change({ model: { ...form.model, ...settings } })}
            error={save.error}
            prefix="agentConfig."
            disabled={disabled}
          />
          <FallbackField {...fields} />
          <StreamField {...fields} />
          <CallFields {...fields} />
        </Card>
        <Card title="Limits">
          <LimitFields {...fields} />
        </Card>
        <Card title="API">
          <ApiFields agent={agent} {...fields} />
        </Card>
        <Card title="Storage and retention">
          <StorageFields {...fields} owner={can(me, 'manage')} />
        </Card>
        {!disabled && (
          <div className={classes.bar} data-changed={changed || undefined}>
            <FormError error={save.error} />
            <Group gap="xs">
              <Button type="submit" loading={save.isPending} disabled={!changed}>
                Save changes
              </Button>
              {isConflict(save.error) && (
                <Button variant="default" onClick={onReload}>
                  Reload
                </Button>
              )}
              {changed && (
                <Button variant="default" onClick={() => setForm(base)}>
                  Discard
                </Button>
              )}
            </Group>
          </div>
        )}
      </form>
      {!disabled && <DangerCard agent={agent} />}
    </>
  );
}

function isConflict(error: unknown): boolean {
  return error instanceof CuelineError && error.status === 412;
}
