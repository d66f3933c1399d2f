import { SegmentedControl } from '@mantine/core';
import { Suspense, useState } from 'react';
import { CodeBlock } from '../../../components/code/code-block.tsx';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import type { ExecutionDetail } from '../../../data/executions/executions.ts';
import { contentText, storedFiles } from '../../../data/executions/sent-files.ts';
import { rendersQuickly } from './markdown-limits.ts';
import classes from './record.module.css';

const Markdown = lazyComponent(() => import('./markdown.tsx'));

/** The two prompts of the short form, or all messages, and the images among them. */
export function SentMessages({ execution }: { readonly execution: ExecutionDetail }) {
  const { messages = [], systemPrompt, userPrompt } = execution;
  const texts = [systemPrompt, userPrompt].filter((text) => text !== undefined && text !== '');
  const isShort =
    messages.length <= texts.length &&
    messages.every(({ role, content }) => role !== 'assistant' && typeof content === 'string');
  if (!isShort) {
    return (
      <>
        {messages.map(({ role, content, toolCalls }, index) => {
          const text = contentText(content);
          const label = `Message ${index + 1}: ${role}`;
          if (role === 'assistant' && text !== '' && !toolCalls) {
            return <AssistantMessage key={index} label={label} text={text} />;
          }
          return (
            <CodeBlock
              key={index}
              label={label}
              code={toolCalls ? `${text}${JSON.stringify(toolCalls, null, 2)}` : text}
            />
          );
        })}
        <Files execution={execution} />
      </>
    );
  }
  return (
    <>
      {systemPrompt !== undefined && (
        <CodeBlock label="Rendered system prompt" code={systemPrompt} />
      )}
      {userPrompt !== undefined && <CodeBlock label="Rendered user prompt" code={userPrompt} />}
      <Files execution={execution} />
    </>
  );
}

/** What the record stores of images and files. A data URL needs no request. */
function Files({ execution }: { readonly execution: ExecutionDetail }) {
  const files = storedFiles(execution);
  if (files.length === 0) return null;
  return (
    <ul className={classes.images} aria-label="Images and files">
      {files.map(({ variable, url, type, isImage }, index) => (
        <li key={index}>
          {isImage && url !== null && <img src={url} alt={`Contents of ${variable}`} />}
          <code>{variable}</code>
          {url === null ? (
            <span className="note">{type}, content not stored</span>
          ) : (
            <a href={url} download={variable}>
              Download {type}
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

/** What a model wrote earlier, as text or as Markdown. */
function AssistantMessage({ label, text }: { readonly label: string; readonly text: string }) {
  const [view, setView] = useState<'text' | 'markdown'>('text');
  if (!rendersQuickly(text)) return <CodeBlock label={label} code={text} />;
  return (
    <section className="stack-small" aria-label={label}>
      <SegmentedControl
        size="xs"
        className={classes.messageFormat}
        aria-label={`Format of ${label.toLowerCase()}`}
        data={formats}
        value={view}
        onChange={(chosen) => setView(chosen as 'text' | 'markdown')}
      />
      {view === 'text' ? (
        <CodeBlock label={label} code={text} />
      ) : (
        <Suspense>
          <Markdown text={text} />
        </Suspense>
      )}
    </section>
  );
}

const formats = [
  { value: 'text', label: 'Text' },
  { value: 'markdown', label: 'Markdown' },
];
