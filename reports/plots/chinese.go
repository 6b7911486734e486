package plots

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
)

// Font is a font with Chinese letters, for labels in Chinese.
type Font struct {
	Path string // where it was found
	face *opentype.Font
}

// words are the labels in Chinese. What is not here stays English, among it the
// names of reasons and counters, which are those of the results.
var words = map[string]string{
	"Bandwidth against message size": "带宽与消息大小",
	"Time against message size":      "耗时与消息大小",
	"Time against %s":                "耗时与 %s",
	"Time by reason against %s":      "各原因耗时与 %s",
	"WQEBB use against %s":           "WQEBB 使用与 %s",
	"Traffic between ranks":          "rank 间流量",
	"message size":                   "消息大小",
	"algbw (GB/s)":                   "算法带宽 algbw (GB/s)",
	"busbw (GB/s)":                   "总线带宽 busbw (GB/s)",
	"wire rate (GB/s)":               "线路速率 wire rate (GB/s)",
	"time (us)":                      "耗时 (us)",
	"time of the slowest block (us)": "最慢 block 的耗时 (us)",
	"WQEBBs written":                 "写入的 WQEBB",
	"fullest queue (WQEBB)":          "最满队列 (WQEBB)",
	"used":                           "有效",
	"NOP":                            "NOP 填充",
	"peak occupancy":                 "峰值占用",
	"queue depth":                    "队列深度",
	"lower bound":                    "理论下界",
	"simulated":                      "模拟值",
	"Algorithms against %s":          "各算法与 %s",
	"%s: algorithms against %s":      "%s：各算法与 %s",
	"(elements)":                     "（元素数）",
	"switch-over":                    "切换点",
	"recommended":                    "推荐值",
	"band, 10-90 % of draws":         "参数区间（10-90 %）",
	"outside what was measured":      "超出实测范围",
	"take %s":                        "取 %s",
	"not ok":                         "未成功",
	"destination rank":               "目的 rank",
	"source rank":                    "源 rank",
	"(AIVs a rank)":                  "（每 rank 的 AIV 数）",
	"and %d more":                    "另有 %d 项",
	"others":                         "其他",
}

// tr returns a label in the language of the frame.
func (f *Frame) tr(format string, args ...any) string {
	if f.Chinese != nil {
		if w, ok := words[format]; ok {
			format = w
		}
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// chineseFonts are beginnings of file names of fonts with Chinese letters, the best
// first.
var chineseFonts = []string{
	"notosanscjk-regular", "notosanscjksc-regular", "notosanssc-regular", "notosanssc[", "sourcehansanssc-regular", "sourcehansans-regular", "sourcehansanscn-regular",
	"wqy-microhei", "wqy-zenhei", "droidsansfallbackfull", "droidsansfallback", "msyh", "simhei", "pingfang", "hiragino sans gb", "stheiti", "uming", "ukai",
}

// fontFolders are where systems keep fonts.
func fontFolders() []string {
	home, _ := os.UserHomeDir()
	switch runtime.GOOS {
	case "windows":
		return []string{filepath.Join(os.Getenv("WINDIR"), "Fonts")}
	case "darwin":
		return []string{"/System/Library/Fonts", "/Library/Fonts", filepath.Join(home, "Library/Fonts")}
	}
	return []string{"/usr/share/fonts", "/usr/local/share/fonts", filepath.Join(home, ".fonts"), filepath.Join(home, ".local/share/fonts")}
}

// FindChinese looks for a font with Chinese letters on this system, or in the given
// folders. Without one it returns an error, and Frame.Chinese stays nil.
func FindChinese(folders ...string) (*Font, error) {
	if len(folders) == 0 {
		folders = fontFolders()
	}
	found := make([][]string, len(chineseFonts))
	for _, folder := range folders {
		filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // a folder that cannot be read has no fonts for us
			}
			name := strings.ToLower(d.Name())
			if k := slices.IndexFunc(chineseFonts, func(p string) bool { return strings.HasPrefix(name, p) }); k >= 0 {
				found[k] = append(found[k], path)
			}
			return nil
		})
	}
	for _, paths := range found {
		for _, path := range paths {
			if f, err := LoadChinese(path); err == nil {
				return f, nil
			}
		}
	}
	return nil, errors.New("no font with Chinese letters is installed; labels stay English")
}

// LoadChinese loads a TrueType or OpenType font, or the first with Chinese letters of
// a collection. A font that lacks them is an error.
func LoadChinese(path string) (*Font, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all, err := opentype.ParseCollection(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range all.NumFonts() {
		face, err := all.Font(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if hasLetters(face, "耗时与消息大小") {
			return &Font{path, face}, nil
		}
	}
	return nil, fmt.Errorf("%s has no Chinese letters", path)
}

func hasLetters(face *opentype.Font, letters string) bool {
	var buf sfnt.Buffer
	for _, r := range letters {
		if i, err := face.GlyphIndex(&buf, r); err != nil || i == 0 {
			return false
		}
	}
	return true
}
