import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Usage } from '../../../../src/client/index.ts';
import { CopyButton } from '../../../components/code/copy-button.tsx';
import { Card, DescriptionList } from '../../../components/layout/card.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { FormError, fieldError } from '../../../components/states/form-error.tsx';
import { can, useMe, workspaceName } from '../../../data/workspace/me.ts';
import { useRenameWorkspace } from '../../../data/workspace/rename-workspace.ts';
import { usageQuery, useSetPlan } from '../../../data/workspace/usage.ts';
import { UsageMeter } from './usage-meter.tsx';

export function WorkspacePage() {
  const me = useMe();
  const usage = useQuery(usageQuery);
  return (
    <>
      <Card title="Workspace">
        <div className="form stack">
          <DescriptionList
            items={[
              ...(can(me, 'manage') ? [] : [['Name', workspaceName(me)] as const]),
              [
                'Workspace ID',
                <span key="id">
                  <code>{me.workspaceId}</code>{' '}
                  <CopyButton text={me.workspaceId} name="workspace ID" />
                </span>,
              ],
              ['Your role', me.role],
            ]}
          />
          {can(me, 'manage') && <NameForm current={workspaceName(me)} />}
        </div>
      </Card>
      <Card title="Plan and usage">
        {usage.isError && !usage.data ? (
          <ErrorState error={usage.error} onRetry={() => void usage.refetch()} />
        ) : (
          <div className="form">
            <UsageMeter usage={usage.data} />
          </div>
        )}
      </Card>
      {usage.data && can(me, 'manage') && (
        <Card title="Change plan">
          <PlanForm usage={usage.data} />
        </Card>
      )}
    </>
  );
}

function NameForm({ current }: { readonly current: string }) {
  const [typed, setTyped] = useState<string | null>(null);
  const name = typed ?? current;
  const rename = useRenameWorkspace();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rename.mutate(name, { onSuccess: () => setTyped(null) });
  };
  return (
    <form className="form" onSubmit={submit}>
      <TextInput
        label="Workspace name"
        required
        withAsterisk={false}
        maxLength={200}
        value={name}
        error={fieldError(rename.error, 'name')}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <FormError error={rename.error} />
      <div>
        <Button type="submit" disabled={name === current} loading={rename.isPending}>
          Rename
        </Button>
      </div>
    </form>
  );
}

function PlanForm({ usage }: { readonly usage: Usage }) {
  // Untouched fields follow the current plan, so that saving does not revert another owner's change.
  const [typed, setTyped] = useState<{ readonly name?: string; readonly actions?: string }>({});
  const { name = usage.plan, actions = String(usage.actionsPerMonth ?? '') } = typed;
  const set = useSetPlan();
  const plan = { name, actionsPerMonth: actions.trim() === '' ? null : Number(actions) };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate(plan);
  };
  return (
    <form className="form" onSubmit={submit}>
      <TextInput
        label="Plan name"
        required
        withAsterisk={false}
        maxLength={200}
        value={name}
        error={fieldError(set.error, 'name')}
        onChange={({ currentTarget }) => setTyped({ ...typed, name: currentTarget.value })}
      />
      <TextInput
        label="AI Actions per month"
        description="Leave empty for no limit. Calls above the limit fail with 429 until the end of the month."
        inputMode="numeric"
        pattern="\d{0,13}"
        placeholder="No limit"
        value={actions}
        error={fieldError(set.error, 'actionsPerMonth')}
        onChange={({ currentTarget }) => setTyped({ ...typed, actions: currentTarget.value })}
      />
      <FormError error={set.error} />
      <div>
        <Button type="submit" loading={set.isPending}>
          Save plan
        </Button>
      </div>
    </form>
  );
}
