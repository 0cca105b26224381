/** The default theme, with the diagrams in its colours. */
import theme from "vitepress/theme";
import "./diagrams.css";

export default theme;
