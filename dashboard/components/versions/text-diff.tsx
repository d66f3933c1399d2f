import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorTheme } from '../editor/editor-theme.ts';
import classes from './template-diff.module.css';

/** A side-by-side diff that collapses long unchanged parts. Loaded on first use. */
export default function TextDiff(props: {
  readonly before: string;
  readonly after: string;
  readonly beforeLabel: string;
  readonly afterLabel: string;
}) {
  const { before, after, beforeLabel, afterLabel } = props;
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!parent.current) return;
    const side = (doc: string, label: string) => ({
      // Else the last line of the shorter text would count as changed, for lack of what ends it.
      doc: `${doc}\n`,
      extensions: [
        editorTheme(label),
        EditorState.readOnly.of(true),
        // Scrollable content must be reachable by keyboard.
        EditorView.contentAttributes.of({ tabindex: '0' }),
      ],
    });
    const view = new MergeView({
      a: side(before, beforeLabel),
      b: side(after, afterLabel),
      parent: parent.current,
      gutter: false,
      collapseUnchanged: { margin: 3, minSize: 6 },
      diffConfig: { timeout: 500 },
    });
    return () => view.destroy();
  }, [before, after, beforeLabel, afterLabel]);
  return <div ref={parent} className={classes.merge} />;
}
