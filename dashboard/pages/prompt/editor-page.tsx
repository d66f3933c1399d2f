import { Skeleton } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { ModelFields } from '../../components/fields/model-fields.tsx';
import { Card } from '../../components/layout/card.tsx';
import columns from '../../components/layout/two-columns.module.css';
import { ErrorState } from '../../components/states/error-state.tsx';
import { promptQuery } from '../../data/prompts/prompts.ts';
import {
  invalidPlaceholders,
  type VariableOccurrence,
  variablesOf,
} from '../../data/prompts/templates.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { type Draft, templatesOf } from './draft.ts';
import classes from './editor.module.css';
import { ExtrasField } from './extras-field.tsx';
import { NewerVersionNotice } from './newer-version-notice.tsx';
import { PromptTexts } from './prompt-texts.tsx';
import { SaveVersion } from './save-version.tsx';
import { SchemaEditors } from './schema-editors.tsx';
import { ToolPicker } from './tool-picker.tsx';
import { useDraft } from './use-draft.ts';
import { VariableList } from './variable-list.tsx';
import { VersionStatus } from './version-status.tsx';

const route = getRouteApi('/app/prompts/$promptId/');

export function EditorPage() {
  const { promptId } = route.useParams();
  const { from } = route.useSearch();
  const { data: prompt } = useSuspenseQuery(promptQuery(promptId));
  const { draft, base, changed, error, edit, discard, saved, retry } = useDraft(prompt, from);
  const readOnly = !can(useMe(), 'edit') || prompt.archived;
  // The first version of a new prompt is written at once.
  const [target, setTarget] = useState<VariableOccurrence | null>(
    readOnly || prompt.latestVersion ? null : { template: 'user', line: 1, offset: 0 },
  );
  if (error && !draft) return <ErrorState error={error} onRetry={retry} />;
  if (!draft) return <Skeleton height={480} />;
  const variables = variablesOf(templatesOf(draft));
  const names = [...new Set([...variables.map(({ name }) => name), ...(base?.variables ?? [])])];
  return (
    <div className={columns.columns}>
      <div className={columns.main}>
        <VersionStatus base={base} changed={changed} onDiscard={discard} />
        {changed && <NewerVersionNotice prompt={prompt} baseId={draft.baseId} />}
        <PromptTexts
          draft={draft}
          names={names}
          readOnly={readOnly}
          target={target}
          onEdit={edit}
        />
        <SchemaEditors
          draft={draft}
          names={variables.map(({ name }) => name)}
          readOnly={readOnly}
          onEdit={edit}
        />
      </div>
      <aside className={columns.side} aria-label="Version">
        {!readOnly && (
          <SaveVersion
            prompt={prompt}
            draft={draft}
            changed={changed}
            onEdit={edit}
            onSaved={saved}
          />
        )}
        <SideCards
          draft={draft}
          readOnly={readOnly}
          onGoTo={(occurrence) => setTarget({ ...occurrence })}
          onEdit={edit}
        />
      </aside>
    </div>
  );
}

/** The variables, model and settings of the draft. */
function SideCards(props: {
  readonly draft: Draft;
  readonly readOnly: boolean;
  readonly onGoTo: (occurrence: VariableOccurrence) => void;
  readonly onEdit: (change: Partial<Draft>) => void;
}) {
  const { draft, readOnly, onGoTo, onEdit } = props;
  const variables = variablesOf(templatesOf(draft));
  const invalid = invalidPlaceholders(templatesOf(draft));
  return (
    <>
      <Card title="Variables">
        <VariableList variables={variables} onGoTo={onGoTo} />
        {invalid.length > 0 && (
          <p className={classes.invalid} role="status">
            Not a placeholder, sent unchanged: <code>{invalid.join(', ')}</code>. Names consist of
            letters, digits and underscores.
          </p>
        )}
        <p className="note">
          To send a literal <code>{'{{name}}'}</code>, use a variable whose default value is that
          text.
        </p>
      </Card>
      <Card title="Model">
        <ModelFields value={draft} onChange={onEdit} disabled={readOnly} />
      </Card>
      <Card title="Tools and more settings">
        <ExtrasField draft={draft} readOnly={readOnly} onEdit={onEdit} />
        {!readOnly && <ToolPicker draft={draft} onEdit={onEdit} />}
      </Card>
    </>
  );
}
