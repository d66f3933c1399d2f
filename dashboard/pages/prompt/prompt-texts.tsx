import { Button, Skeleton } from '@mantine/core';
import { Suspense } from 'react';
import editor from '../../components/editor/editor.module.css';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import type { VariableOccurrence } from '../../data/prompts/templates.ts';
import { type Draft, shortForm } from './draft.ts';
import classes from './editor.module.css';
import { MessagesEditor } from './messages-editor.tsx';

const TemplateEditor = lazyComponent(() => import('./template-editor.tsx'));

interface PromptTextsProps {
  readonly draft: Draft;
  /** Names offered for completion. */
  readonly names: readonly string[];
  readonly readOnly: boolean;
  readonly target: VariableOccurrence | null;
  readonly onEdit: (change: Partial<Draft>) => void;
}

/** Edits what a version sends: its templates, or its messages. */
export function PromptTexts(props: PromptTextsProps) {
  const { draft, readOnly, onEdit } = props;
  return (
    <>
      {draft.messages ? (
        <section className={editor.frame}>
          <header className={classes.head}>
            <h2>Messages</h2>
          </header>
          <MessagesEditor
            messages={draft.messages}
            readOnly={readOnly}
            onChange={(messages) => onEdit({ messages })}
          />
        </section>
      ) : (
        <TemplateEditors {...props} />
      )}
      {!readOnly && <FormSwitch draft={draft} onEdit={onEdit} />}
    </>
  );
}

function TemplateEditors(props: PromptTextsProps) {
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
            <span className="small-note">{draft[name].length.toLocaleString()} characters</span>
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
