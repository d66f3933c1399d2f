import { Button, Skeleton } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { type DefinitionFormat, writeDefinition } from '../../data/definition-text.ts';
import { may, useMe } from '../../data/me.ts';
import { workflowQuery, workflowVersionQuery } from '../../data/workflows.ts';
import editor from '../../parts/editor.module.css';
import { ErrorState } from '../../parts/error-state.tsx';
import DefinitionEditor from './definition-editor.tsx';
import { type SavedVersion, SaveVersion } from './save-version.tsx';
import shared from './workflow.module.css';

const route = getRouteApi('/app/workflows/$workflowId/definition');

/** What is written and not saved. It stands in the window's session storage, whatever page is shown. */
interface Draft {
  /** The version that it began with. */
  readonly baseId: string;
  readonly text: string;
  readonly format: DefinitionFormat;
}

export function DefinitionPage() {
  const { workflowId } = route.useParams();
  const { from } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: workflow } = useSuspenseQuery(workflowQuery(workflowId));
  const [draft, store, discard] = useSessionStorage<Draft | null>({
    key: `cueline-definition-${workflowId}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const [format, setFormat] = useState<DefinitionFormat>('YAML');
  const [saved, setSaved] = useState<SavedVersion | null>(null);
  const readOnly = !may(useMe(), 'edit');
  const baseId = draft?.baseId ?? from ?? workflow.workflowVersionId;
  const base = useQuery(workflowVersionQuery(workflowId, baseId));
  if (base.isError) return <ErrorState error={base.error} onRetry={() => void base.refetch()} />;
  if (!base.data) return <Skeleton height={480} />;
  const { workflowVersionLabel: label, definition } = base.data;
  const shown = draft ?? { baseId, format, text: writeDefinition(definition, format) };
  const changed = shown.text !== writeDefinition(definition, shown.format);
  const edit = (text: string, to: DefinitionFormat) => {
    setSaved(null);
    setFormat(to);
    if (text === writeDefinition(definition, to)) discard();
    else store({ baseId, text, format: to });
  };
  const onSaved = (version: SavedVersion) => {
    discard();
    setSaved(version);
    // What was saved is shown, whatever it began with.
    void navigate({ search: { from: version.workflowVersionId }, replace: true });
  };
  return (
    <div className={shared.page}>
      <div className={editor.state}>
        <span role="status">
          {changed
            ? `A draft, begun from “${label}”. It is not saved yet.`
            : `“${label}”, as it was saved${baseId === workflow.workflowVersionId ? ', and pinned' : ''}.`}
        </span>
        {changed && (
          <Button variant="default" size="xs" onClick={discard}>
            Discard the draft
          </Button>
        )}
      </div>
      <DefinitionEditor text={shown.text} format={shown.format} readOnly={readOnly} onChange={edit}>
        {({ definition, fine }) =>
          !readOnly && (
            <SaveVersion
              workflow={workflow}
              definition={definition}
              ready={changed && fine}
              saved={saved}
              onSaved={onSaved}
            />
          )
        }
      </DefinitionEditor>
    </div>
  );
}
