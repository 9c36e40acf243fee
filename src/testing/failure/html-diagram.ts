import type { Story } from './story.js';
export function htmlDiagram(story: Story): string {
  return story.violated;
}
