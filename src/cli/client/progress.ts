import { oneLine } from './print.ts';

/**
 * A sign of life while something takes its time, on standard error and only where that is a terminal. Not the spinner
 * of @clack/prompts: it puts the keyboard in raw mode, where Ctrl-C ends the process with 0 and tells nobody.
 */
export async function withProgress<T>(text: string, work: Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY) return work;
  let turn = 0;
  const draw = () => stderr.write(`\r${frames[turn++ % frames.length]} ${oneLine(text)}`);
  draw();
  const timer = setInterval(draw, frameMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    stderr.write(`\r${eraseLine}`);
  }
}

const frames = ['|', '/', '-', '\\'];
const frameMs = 120;
const eraseLine = '\x1b[K';
