export { builtInSkills } from './built-in.ts';
export { readSkill } from './read-skill.ts';
export { skillsExist } from './store.ts';
