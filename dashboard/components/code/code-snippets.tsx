import { SegmentedControl } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { CodeBlock } from './code-block.tsx';
import classes from './code-snippets.module.css';

interface Language {
  readonly label: string;
  readonly code: string;
  /** What to do with it. */
  readonly about?: ReactNode;
}

/** The same example in several languages. */
export function CodeSnippets(props: {
  readonly languages: readonly [Language, ...Language[]];
  readonly children?: ReactNode;
}) {
  const { languages } = props;
  const [chosen, choose] = useState(languages[0].label);
  const { label, code, about } = languages.find((one) => one.label === chosen) ?? languages[0];
  return (
    <div className={classes.snippets}>
      <div className={classes.languages}>
        <SegmentedControl
          size="xs"
          aria-label="Language"
          data={languages.map((one) => one.label)}
          value={chosen}
          onChange={choose}
        />
      </div>
      {about && <p>{about}</p>}
      <CodeBlock label={label} code={code} />
      {props.children}
    </div>
  );
}
