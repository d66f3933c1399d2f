import { Button, JsonInput, Skeleton } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { Card } from '../../components/card.tsx';
import { DraftStatus } from '../../components/editor/draft-status.tsx';
import editor from '../../components/editor/editor.module.css';
import { ErrorState } from '../../components/error-state.tsx';
import { ModelFields } from '../../components/fields/model-fields.tsx';
import { lazyComponent } from '../../components/lazy-component.tsx';
import columns from '../../components/two-columns.module.css';
import { promptQuery } from '../../data/prompts/prompts.ts';
import {
  invalidPlaceholders,
  type VariableOccurrence,
  variablesOf,
} from '../../data/prompts/templates.ts';
import { readExtras } from '../../data/prompts/version-extras.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { type Draft, shortForm, templatesOf } from './draft.ts';
import classes from './editor.module.css';
import { MessagesEditor } from './messages-editor.tsx';
import { NewerVersionNotice } from './newer-version-notice.tsx';
import { SaveVersion } from './save-version.tsx';
import { SchemaEditors } from './schema-editors.tsx';
import { useDraft } from './use-draft.ts';
import { VariableList } from './variable-list.tsx';

const TemplateEditor = lazyComponent(() => import('./template-editor.tsx'));
const route = getRouteApi('/app/prompts/$promptId/');

export function EditorPage() {
  const { promptId } = route.useParams();
  const { from } = route.useSearch();
  const { data: prompt } = useSuspenseQuery(promptQuery(promptId));
  const { draft, base, changed, error, edit, discard, saved, retry } = useDraft(prompt, from);
  const [target, setTarget] = useState<VariableOccurrence | null>(null);
  const readOnly = !can(useMe(), 'edit') || prompt.archived;
  if (error && !draft) return <ErrorState error={error} onRetry={retry} />;
  if (!draft) return <Skeleton height={480} />;
  const variables = variablesOf(templatesOf(draft));
  const names = [...new Set([...variables.map(({ name }) => name), ...(base?.variables ?? [])])];
  return (
    <div className={columns.columns}>
      <div className={columns.main}>
        <DraftStatus changed={changed} onDiscard={discard}>
          {changed
            ? `Unsaved changes${base ? `, based on “${base.promptVersionLabel}”` : ''}.`
            : base
              ? `Version “${base.promptVersionLabel}”, no changes.`
              : 'No versions yet. Write the first one.'}
        </DraftStatus>
        {changed && <NewerVersionNotice prompt={prompt} baseId={draft.baseId} />}
        {draft.messages ? (
          <section className={editor.frame}>
            <header className={classes.head}>
              <h2>Messages</h2>
            </header>
            <MessagesEditor
              messages={draft.messages}
              readOnly={readOnly}
              onChange={(messages) => edit({ messages })}
            />
          </section>
        ) : (
          <TemplateEditors
            draft={draft}
            names={names}
            readOnly={readOnly}
            target={target}
            onEdit={edit}
          />
        )}
        {!readOnly && <FormSwitch draft={draft} onEdit={edit} />}
        <SchemaEditors
          draft={draft}
          names={variables.map(({ name }) => name)}
          readOnly={readOnly}
          onEdit={edit}
        />
      </div>
      <aside className={columns.side} aria-label="Version">
        <SideCards
          draft={draft}
          readOnly={readOnly}
          onGoTo={(occurrence) => setTarget({ ...occurrence })}
          onEdit={edit}
        />
        {!readOnly && (
          <SaveVersion
            prompt={prompt}
            draft={draft}
            changed={changed}
            onEdit={edit}
            onSaved={saved}
          />
        )}
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
  const extras = readExtras(draft.extras);
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
        <p className={classes.muted}>
          To send a literal <code>{'{{name}}'}</code>, use a variable whose default value is that
          text.
        </p>
      </Card>
      <Card title="Model">
        <ModelFields value={draft} onChange={onEdit} disabled={readOnly} />
      </Card>
      <Card title="Tools and more settings">
        <JsonInput
          aria-label="Tools and more settings as JSON"
          placeholder={'{"seed": 7, "stop": ["END"]}'}
          value={draft.extras}
          onChange={(extras) => onEdit({ extras })}
          error={typeof extras === 'string' && extras}
          readOnly={readOnly}
          autosize
          minRows={2}
          maxRows={20}
        />
      </Card>
    </>
  );
}

function TemplateEditors(props: {
  readonly draft: Draft;
  readonly names: readonly string[];
  readonly readOnly: boolean;
  readonly target: VariableOccurrence | null;
  readonly onEdit: (change: Partial<Draft>) => void;
}) {
  const { draft, names, readOnly, target, onEdit } = props;
  const templates = [
    { name: 'system', title: 'System', hint: 'Role and behavior of the model. Optional.' },
    { name: 'user', title: 'User', hint: 'The request. Each call fills in {{name}}.' },
  ] as const;
  return (
    <>
      {templates.map(({ name, title, hint }) => (
        <section key={name} className={editor.frame} data-template={name}>
          <header className={classes.head}>
            <h2>{title}</h2>
            <span className={classes.size}>{draft[name].length.toLocaleString()} characters</span>
          </header>
          <Suspense fallback={<Skeleton height={128} radius={0} />}>
            <TemplateEditor
              label={`${title} template`}
              hint={hint}
              value={draft[name]}
              names={names}
              readOnly={readOnly}
              target={target?.template === name ? target : null}
              onChange={(text) => onEdit({ [name]: text })}
            />
          </Suspense>
        </section>
      ))}
    </>
  );
}

/** Turns the short form into messages, and back where nothing is lost. */
function FormSwitch(props: {
  readonly draft: Draft;
  readonly onEdit: (change: Partial<Draft>) => void;
}) {
  const { draft, onEdit } = props;
  const { system, user, messages } = draft;
  const short = messages && shortForm(messages);
  if (messages && !short) return null;
  const fields = [
    ...(system === '' ? [] : [{ role: 'system', text: system } as const]),
    { role: 'user', text: user } as const,
  ];
  return (
    <Button
      variant="default"
      size="xs"
      onClick={() =>
        onEdit(short ? { ...short, messages: null } : { system: '', user: '', messages: fields })
      }
    >
      {short ? 'Use system and user only' : 'Use a list of messages'}
    </Button>
  );
}
