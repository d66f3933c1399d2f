import { Skeleton } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { WorkflowVersion } from '../../../src/client/index.ts';
import { DraftStatus } from '../../components/editor/draft-status.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { useNamedDefinition } from '../../data/workflows/agents-by-name.ts';
import { type DefinitionFormat, writeDefinition } from '../../data/workflows/definition-text.ts';
import { workflowQuery, workflowVersionQuery } from '../../data/workflows/workflows.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { type DefinitionDraft, draftAfterSave } from './definition/definition-draft.ts';
import DefinitionEditor from './definition/definition-editor.tsx';
import { SaveVersion } from './definition/save-version.tsx';

const route = getRouteApi('/app/workflows/$workflowId/definition');

export function DefinitionPage() {
  const { workflowId } = route.useParams();
  const { from } = route.useSearch();
  const { data: workflow } = useSuspenseQuery(workflowQuery(workflowId));
  const key = `cueline-definition-${workflowId}`;
  const [draft, store, discard] = useSessionStorage<DefinitionDraft | null>({
    key,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const [format, setFormat] = useState<DefinitionFormat>('YAML');
  const readOnly = !can(useMe(), 'edit');
  const baseId = draft?.baseId ?? from ?? workflow.workflowVersionId;
  const base = useQuery(workflowVersionQuery(workflowId, baseId));
  const definition = useNamedDefinition(base.data?.definition);
  if (base.isError && !base.data) {
    return <ErrorState error={base.error} onRetry={() => void base.refetch()} />;
  }
  if (!base.data || definition === null) return <Skeleton height={480} />;
  const { workflowVersionLabel: label } = base.data;
  const shown = draft ?? { baseId, format, text: writeDefinition(definition, format) };
  const changed = shown.text !== writeDefinition(definition, shown.format);
  const edit = (text: string, to: DefinitionFormat) => {
    setFormat(to);
    if (text === writeDefinition(definition, to)) discard();
    else store({ baseId, text, format: to });
  };
  const onSaved = (sent: DefinitionDraft, version: WorkflowVersion) => {
    // Read from storage, because this closure dates from when the version was sent.
    const now = JSON.parse(sessionStorage.getItem(key) ?? 'null') as DefinitionDraft | null;
    const rest = draftAfterSave(now, sent, version);
    if (rest === null) discard();
    else store(rest);
  };
  return (
    <div className="areas">
      <DraftStatus changed={changed} onDiscard={discard}>
        {changed
          ? `Unsaved changes, based on “${label}”.`
          : `Version “${label}”${baseId === workflow.workflowVersionId ? ' (pinned)' : ''}, no changes.`}
      </DraftStatus>
      <DefinitionEditor text={shown.text} format={shown.format} readOnly={readOnly} onChange={edit}>
        {({ definition, valid }) =>
          !readOnly && (
            <SaveVersion
              workflow={workflow}
              draft={shown}
              definition={definition}
              changed={changed}
              valid={valid}
              onSaved={onSaved}
            />
          )
        }
      </DefinitionEditor>
    </div>
  );
}
